// The contrasts of the page: {text: [the least of all texts, whose it is], labels: {kind of event: ink on its fill}}.
() => {
    const light = c => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
    const numbers = text => (text.match(/[\d.]+/g) || []).map(Number);
    const ratio = (a, b) => {
        const [x, y] = [luminance(a), luminance(b)];
        return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    };

    // What may lie below an element's text: the nearest ground, and a bar that is drawn on it.
    const grounds = element => {
        const found = [];
        for (let e = element; e; e = e.parentElement) {
            const style = getComputedStyle(e);
            const bar = style.backgroundImage.match(/rgb\([^)]*\)/);
            if (bar) found.push(numbers(bar[0]));
            const colour = numbers(style.backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return [...found, colour];
        }
        return found;
    };
    const hasText = e => [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
    const isShown = e => e.checkVisibility({ visibilityProperty: true }) && !e.closest("script, noscript, :disabled");

    let text = [99, ""];
    for (const element of [...document.querySelectorAll("body *")].filter(e => hasText(e) && isShown(e))) {
        const style = getComputedStyle(element);
        const box = element.closest(".node")?.querySelector(".body");
        const below = box ? [numbers(getComputedStyle(box).fill)] : grounds(element);
        const ink = numbers(element.closest("svg") ? style.fill : style.color);
        const least = Math.min(...below.map(ground => ratio(ink, ground)));
        if (least < text[0]) text = [least, `${element.tagName} ${element.textContent.slice(0, 40)}`];
    }

    const probe = document.body.appendChild(document.createElement("i"));
    const resolve = name => {
        probe.style.color = `var(--${name})`;
        return numbers(getComputedStyle(probe).color);
    };
    const kinds = ["op", "backward", "engine", "function", "hook", "region"];
    const labels = Object.fromEntries(kinds.map(kind => [kind, ratio(resolve("ink"), resolve(kind))]));
    probe.remove();
    return { text, labels };
}
