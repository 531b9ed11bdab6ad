import torch,torch.nn.functional as F
def t(s,*a,**k):
    try:
        r=eval(s); print(s,'->',tuple(r.shape),r.dtype,r.grad_fn and r.grad_fn.name(), r.stride())
    except Exception as e: print(s,'!!',type(e).__name__,str(e).split('\n')[0][:300])
R=torch.randn
def P(*s,**k): return torch.randn(*s,requires_grad=True,**k)
C=torch.complex64
for s in ["F.conv2d(P(1,3,5,5),P(2,3,3,3))","F.conv2d(P(1,3,5,5),P(2,3,3,3),None,1,'same')","F.conv2d(P(1,3,5,5),P(2,3,2,2),None,1,'same')","F.conv2d(P(1,3,5,5),P(2,3,2,2),None,2,'same')","F.conv2d(P(1,3,5,5),P(2,3,2,2),None,1,'foo')",
"F.conv2d(P(3,5,5),P(2,3,3,3))","F.conv2d(P(1,3,5,5,dtype=C),P(2,3,3,3,dtype=C))","F.conv2d(P(1,3,5,5,dtype=C),P(2,3,3,3,dtype=C),padding='same')","torch.convolution(P(1,3,5,5,dtype=C),P(2,3,3,3,dtype=C),None,(1,1),(0,0),(1,1),False,(0,0),1)","torch.convolution(P(1,3,5,5),P(2,3,3,3),None,(1,1),(0,0),(1,1),False,(0,0),1)",
"torch.convolution(P(1,3,5,5),P(2,3,3,3),None,1,0,1,False,0,1)",
"torch.convolution(P(1,3,5,5),P(2,3,3,3),None,[1],[0],[1],False,[0],1)",
"torch.convolution(P(3,5,5),P(2,3,3,3),None,[1,1],[0,0],[1,1],False,[0,0],1)",
"F.conv2d(P(1,4,5,5),P(2,3,3,3))","F.conv2d(P(1,3,2,2),P(2,3,3,3))","F.conv2d(P(3,5),P(2,3,3,3))","F.conv2d(P(1,3,5,5),P(2,3,3))","F.conv2d(P(1,3,5,5),P(2,3,3,3),P(3))","F.conv2d(P(1,3,5,5),P(2,3,3,3),P(2,1))",
"F.conv2d(P(1,3,5,5),P(2,3,3,3),padding=-1)","F.conv2d(P(1,3,5,5),P(2,3,3,3),stride=0)","F.conv2d(P(1,3,5,5),P(2,3,3,3),dilation=0)","F.conv2d(P(1,3,5,5),P(2,3,3,3),groups=0)","F.conv2d(P(1,3,5,5),P(2,3,3,3),groups=2)","F.conv2d(P(1,4,5,5),P(3,2,3,3),groups=2)","F.conv2d(P(1,4,5,5),P(4,3,3,3),groups=2)",
"F.conv2d(P(0,3,5,5),P(2,3,3,3))","F.conv2d(P(1,0,5,5),P(2,0,3,3))","F.conv2d(P(1,3,5,5),P(0,3,3,3))","F.conv2d(P(1,3,0,5),P(2,3,3,3),padding=2)","F.conv2d(P(1,3,5,5),P(2,3,0,3))",
"F.conv2d(P(1,3,5,5).int(),P(2,3,3,3))","F.conv2d(P(1,3,5,5).int(),P(2,3,3,3).int())","F.conv2d(P(1,3,5,5).bool(),P(2,3,3,3).bool())","F.conv2d(P(1,3,5,5).double(),P(2,3,3,3))","F.conv2d(P(1,3,5,5),P(2,3,3,3),P(2).double())","F.conv2d(P(1,3,5,5).half(),P(2,3,3,3).half())","F.conv2d(P(1,3,5,5).double(),P(2,3,3,3).double(), P(2))","F.conv2d(P(1,3,5,5,dtype=C),P(2,3,3,3))","F.conv2d(P(1,3,5,5,dtype=C),P(2,3,3,3,dtype=C),P(2))",
"F.conv2d(P(1,3,5,5),P(2,3,3,3),stride=(1,))","F.conv2d(P(1,3,5,5),P(2,3,3,3),stride=(1,2,3))","F.conv2d(P(1,3,5,5),P(2,3,3,3),stride=1.5)","F.conv2d(P(1,3,5,5),P(2,3,3,3),padding=(1,2,3))","F.conv2d(P(1,3,5,5),P(2,3,3,3),dilation=())","F.conv2d(P(1,3,5,5),P(2,3,3,3),stride=())",
"F.conv1d(P(1,3,5),P(2,3,3))","F.conv1d(P(3,5),P(2,3,3))","F.conv1d(P(5),P(2,3,3))","F.conv3d(P(1,3,5,5,5),P(2,3,3,3,3))","F.conv3d(P(3,5,5,5),P(2,3,3,3,3))",
"F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3))","F.conv_transpose2d(P(3,5,5),P(3,2,3,3))","F.conv_transpose2d(P(1,3,5,5),P(2,2,3,3))","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),output_padding=1)","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),stride=2,output_padding=1)","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),stride=2,output_padding=-1)","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),padding=9)","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),P(3))","F.conv_transpose2d(P(1,4,5,5),P(4,2,3,3),groups=2)","F.conv_transpose1d(P(1,4,5),P(4,2,3),groups=2)","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),padding='same')","F.conv_transpose2d(P(1,3,5,5,dtype=C),P(3,2,3,3,dtype=C))","F.conv_transpose2d(P(1,3,5,5),P(3,2,3,3),groups=2)",
"F.conv_transpose2d(P(0,3,5,5),P(3,2,3,3))","F.conv_transpose2d(P(2,0,5,5),P(0,2,3,3))",
"F.conv_transpose2d(P(1,3,5,5).int(),P(3,2,3,3).int())",
"torch.conv_transpose2d(P(1,3,5,5),P(3,2,3,3))",
"torch.conv2d(P(1,3,5,5),P(2,3,3,3),padding='valid')",
"torch.conv_tbc(P(5,2,3),P(3,3,4),P(4),1)","torch.conv_tbc(P(5,2,3),P(3,3,4),P(4))","torch.conv_tbc(P(5,2,3),P(3,2,4),P(4))","torch.conv_tbc(P(5,2,3),P(3,3,4),P(3))","torch.conv_tbc(P(5,3),P(3,3,4),P(3))","torch.conv_tbc(P(5,2,3),P(3,3),P(3))","torch.conv_tbc(P(5,2,3),P(3,3,4),None)","torch.conv_tbc(P(1,2,3),P(3,3,4),P(4))","F.conv_tbc(P(5,2,3).double(),P(3,3,4),P(4))","F.conv_tbc(P(5,2,3).int(),P(3,3,4).int(),P(4).int())","F.conv_tbc(P(5,2,3,dtype=C),P(3,3,4,dtype=C),P(4,dtype=C))","F.conv_tbc(P(5,2,3),P(3,3,4),P(4),-1)",
"F.unfold(P(1,3,5,5),3)","F.unfold(P(3,5,5),3)","F.unfold(P(3,5),3)","F.unfold(P(1,3,5,5),(3,))","F.unfold(P(1,3,5,5),3,0)","F.unfold(P(1,3,5,5),3,1,-1)","F.unfold(P(1,3,2,2),3)","F.unfold(P(1,3,5,5),0)","F.unfold(P(0,3,5,5),3)","F.unfold(P(1,0,5,5),3)","F.unfold(P(1,3,5,5).int(),3)","F.unfold(P(1,3,5,5).bool(),3)","F.unfold(P(1,3,5,5,dtype=C),3)","F.unfold(P(1,3,5,5),3,stride=0)","F.unfold(P(1,3,5,5),(3,3,3))","F.unfold(P(1,3,5,5).half(),3)","F.unfold(P(1,3,0,5),1)",
"F.fold(P(1,27,9),(5,5),3)","F.fold(P(27,9),(5,5),3)","F.fold(P(27),(5,5),3)","F.fold(P(1,26,9),(5,5),3)","F.fold(P(1,27,8),(5,5),3)","F.fold(P(1,27,9),(5,),3)","F.fold(P(1,27,9),5,3)","F.fold(P(1,27,9),(5,5),0)","F.fold(P(1,27,9),(5,5),3,0)","F.fold(P(1,27,9),(5,5),3,1,-1)","F.fold(P(1,27,9),(5,5),3,stride=0)","F.fold(P(0,27,9),(5,5),3)","F.fold(P(1,27,9).int(),(5,5),3)","F.fold(P(1,27,9,dtype=C),(5,5),3)","F.fold(P(1,27,9).bool(),(5,5),3)","F.fold(P(1,27,9),(-5,5),3)","F.fold(P(1,27,9),(2,2),3)", "F.fold(P(1,0,9),(5,5),3)","F.fold(P(1,27,0),(5,5),3)","torch.im2col(P(1,3,5,5),3,1,0,1)","F.fold(P(1,27,9).half(),(5,5),3)",
]: t(s)
y=F.conv2d(P(1,3,5,5),P(2,3,3,3),P(2),2,1)
print([a for a in dir(y.grad_fn) if a.startswith('_saved')],[ (a,getattr(y.grad_fn,a)) for a in dir(y.grad_fn) if a.startswith('_saved') and a not in('_saved_input','_saved_weight')])
y=F.unfold(P(1,3,5,5),3); print([ (a,getattr(y.grad_fn,a)) for a in dir(y.grad_fn) if a.startswith('_saved')])
y=F.fold(P(1,27,9),(5,5),3); print([ (a,getattr(y.grad_fn,a)) for a in dir(y.grad_fn) if a.startswith('_saved')])
y=F.conv_tbc(P(5,2,3),P(3,3,4),P(4)); print([ (a,getattr(y.grad_fn,a)) for a in dir(y.grad_fn) if a.startswith('_saved')])
for o in ('conv1d','conv2d','conv3d','conv_transpose1d','conv_transpose2d','conv_transpose3d','conv_tbc','unfold','fold'):
    print((getattr(F,o).__doc__ or '').strip().split('\n')[0])
import torch.testing._internal.common_methods_invocations as c
for o in c.op_db:
    if 'conv' in o.name or 'fold' in o.name: print(o.name,o.dtypes)
x=P(2,3,5,5).contiguous(memory_format=torch.channels_last); print(F.conv2d(x,P(2,3,3,3)).stride(), F.conv2d(R(2,3,5,5),P(2,3,3,3).contiguous(memory_format=torch.channels_last)).stride())
