import os,sys
os.environ["OPENBLAS_NUM_THREADS"]="1"
import numpy as np, time, torch, autograd_cy as ag
torch.set_num_threads(1); ag.set_num_threads(1)
def best(f,n=40):
    f();t=[]
    for _ in range(n):
        a=time.perf_counter();f();t.append(time.perf_counter()-a)
    return min(t)*1e6
rng=np.random.default_rng(0)
def run(ci,co,s,b,p,k=3,groups=1,st=1,need=True,tr=False):
    X=rng.standard_normal((b,ci,s,s),dtype='f');W=rng.standard_normal((co,ci//groups,k,k),dtype='f');B=rng.standard_normal(co,dtype='f')
    if tr: W=rng.standard_normal((ci,co//groups,k,k),dtype='f')
    r={}
    fs={}
    for name,m in (("torch",torch),("ag",ag)):
        x=m.tensor(X,requires_grad=need);w=m.tensor(W,requires_grad=True);bi=m.tensor(B,requires_grad=True)
        fn=m.nn.functional.conv_transpose2d if tr else m.nn.functional.conv2d
        f=lambda fn=fn,x=x,w=w,bi=bi:fn(x,w,bi,stride=st,padding=p,groups=groups)
        y=f(); g=m.ones_like(y)
        def step(f=f,x=x,w=w,bi=bi,g=g):
            x.grad=w.grad=bi.grad=None
            f().backward(g)
        def dw(f=f,g=g,w=w,bi=bi):
            w.grad=None; f().backward(g,inputs=[w])
        fs[name]=(f,dw,step)
        step()
        r[name]=[y.detach().numpy(),w.grad.numpy(),bi.grad.numpy()]+([x.grad.numpy()] if need else [])
    err=[float(abs(a-c).max()/abs(a).max()) for a,c in zip(r["torch"],r["ag"])]
    T={"torch":[1e9]*3,"ag":[1e9]*3}
    for _ in range(3):
        for name in fs:
            for i,f in enumerate(fs[name]): T[name][i]=min(T[name][i],best(f,20))
    a,c=T["torch"],T["ag"]
    print((ci,co,s,b,p,k,groups,st,tr),"torch fwd %.0f +dw %.0f step %.0f"%tuple(a),"ag %.0f %.0f %.0f"%tuple(c),"ratio %.2f %.2f %.2f"%tuple(u/v for u,v in zip(a,c)),"err",["%.0e"%e for e in err],flush=True)
cases=[(32,64,28,16,1),(1,16,8,64,1,3,1,1,False),(16,32,8,64,1),(16,32,4,64,1),(64,64,14,8,0,1),(32,32,28,8,1,3,32),(3,16,64,4,1),(32,64,28,4,1,3,1,2),(32,16,14,8,1,4,1,2,True,True),(64,64,28,4,1,3,4)]
if len(sys.argv)>1: cases=cases[:int(sys.argv[1])]
for c in cases: run(*c)
