/* Explorers: draws the figures that netlib.course.page bakes. No library; one copy serves every figure of a page.

   A figure's numbers arrive packed (netlib/course/pack.py): 16-bit steps as differences, low bytes then high bytes,
   gzip'd, with the words of every state behind them. `layout` draws what the width decides, `move` what the state decides. */
(() => {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';
  const GAP = 65535, FONT = 12;
  const MARKS = {
    o: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', s: 'M-3.5-3.5h7v7h-7z', D: 'M0-5l5 5l-5 5l-5-5z', '^': 'M0-4.5l4.5 8h-9z',
    v: 'M0 4.5l4.5-8h-9z', P: 'M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z', X: 'M-4-4l8 8m-8 0l8-8', _: 'M-5 0h10',
    h: 'M-4.5 0l2.3-4h4.4l2.3 4l-2.3 4h-4.4z',
  };
  const ruler = document.createElement('canvas').getContext('2d');
  const textWidth = (text) => { ruler.font = `${FONT}px ${family}`; return ruler.measureText(text).width; };
  let family = 'sans-serif';

  const node = (tag, attributes, parent) => {
    const made = document.createElementNS(SVG, tag);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (parent) parent.appendChild(made);
    return made;
  };
  const html = (tag, className, parent, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  };
  const set = (element, key, value) => { if (element.getAttribute(key) !== value) element.setAttribute(key, value); };
  const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };

  const crisp = (value) => Math.round(value - 0.5) + 0.5;

  // ---- numbers as words: the same rules as netlib.course.words.nice
  const commas = (digits) => digits.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));
  const trim = (digits) => (digits.includes('.') ? digits.replace(/0+$/, '').replace(/\.$/, '') : digits);
  const power = (n) => '10' + String(n).replace(/[-\d]/g, (c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]));
  function nice(value, unit, ladders, gap) {
    if (value === null || !Number.isFinite(value)) return gap;
    const ladder = ladders[unit] || [[1, unit]];
    const count = !ladders[unit] && value === Math.round(value);
    let rung = ladder[0];
    value *= 1 + 1e-12; // ties go up
    if (value === 0) rung = ladder.find((r) => r[0] === 1) || rung;
    else for (const r of ladder) if (+(Math.abs(value) / r[0]).toExponential(2) >= 1) rung = r; // 999.9 µs is 1.00 ms
    const scaled = value / rung[0], size = Math.abs(scaled);
    let number;
    if (scaled !== 0 && !(size >= 1e-3 && size < 1e7)) {
      let [digits, exponent] = scaled.toExponential(2).split('e');
      if (count) digits = trim(digits);
      number = digits === '1' ? power(+exponent) : `${digits}×${power(+exponent)}`;
    } else if (scaled === 0) number = '0';
    else {
      const decimals = Math.max(0, 2 - +size.toExponential(2).split('e')[1]);
      number = commas(scaled.toFixed(decimals));
      if (count) number = trim(number);
    }
    return `${number} ${rung[1]}`.trim();
  }

  // ---- unpacking
  async function unpack(spec) {
    const packed = Uint8Array.from(atob(spec.data), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    const n = spec.count, steps = new Uint16Array(n);
    for (let i = 0; i < n; i++) steps[i] = bytes[i] | (bytes[n + i] << 8);
    const words = JSON.parse(new TextDecoder().decode(bytes.subarray(2 * n)));
    let states = 1;
    for (const knob of spec.knobs) states *= knob.texts.length;
    for (const ref of spec.refs) {
      if (ref.at === undefined) continue;
      for (let i = ref.at, end = ref.at + states * ref.n; i < end; i += ref.n)
        for (let k = 1; k < ref.n; k++) steps[i + k] += steps[i + k - 1];
    }
    return { steps, words };
  }
  function restore(ref, step) {
    if (step === GAP) return NaN;
    if (step === 0 || ref.steps === undefined) return step; // zero, or a count
    const negative = step > ref.steps, share = (step - 1 - (negative ? ref.steps : 0)) / (ref.steps - 1);
    const size = ref.low * Math.pow(ref.high / ref.low, share);
    return negative ? -size : size;
  }

  // ---- axes
  const place = (axis, from, to) => {
    const f = axis.log ? Math.log : Number, low = f(axis.low), scale = (to - from) / (f(axis.high) - low);
    return (value) => (axis.log && value <= 0 ? NaN : from + (f(value) - low) * scale);
  };
  function thinned(axis, room, upright) {
    let kept = axis.ticks;
    for (const stride of axis.strides) {
      kept = axis.ticks.filter((t) => t[2] % stride === 0);
      const need = upright ? 26 : Math.max(...kept.map((t) => textWidth(t[1])), 10) + 14;
      if (kept.length * need <= room) break;
    }
    return kept;
  }
  function wrap(text, room) { // category names on two lines where one is too wide
    if (textWidth(text) <= room) return [text];
    const words = text.split(' '), lines = [''];
    for (const word of words) {
      const longer = (lines[lines.length - 1] + ' ' + word).trim();
      if (textWidth(longer) <= room || lines[lines.length - 1] === '') lines[lines.length - 1] = longer; else lines.push(word);
    }
    return lines;
  }

  class Explorer {
    constructor(figure) {
      this.figure = figure;
      this.spec = JSON.parse(figure.querySelector('.nx-spec').textContent);
      this.stage = figure.querySelector('.nx-stage');
      this.index = this.spec.knobs.map((k) => k.start);
      this.cursor = 0;
      this.row = 0;
    }

    async start() {
      Object.assign(this, await unpack(this.spec));
      const { figure, spec } = this;
      this.inputs = [...figure.querySelectorAll('.nx-knobs input')];
      this.outputs = [...figure.querySelectorAll('.nx-knobs output')];
      this.inputs.forEach((input, k) => {
        input.value = String(spec.knobs[k].start); // a reload may have kept another position
        input.addEventListener('input', () => { this.index[k] = +input.value; this.move(); });
      });
      figure.querySelector('.nx-reset').addEventListener('click', () => {
        this.index = spec.knobs.map((k) => k.start);
        this.inputs.forEach((input, k) => { input.value = String(this.index[k]); });
        this.move();
      });
      figure.querySelector('.nx-knobs').hidden = false;
      this.details = figure.querySelector('.nx-data');
      this.details.addEventListener('toggle', () => this.fill());
      window.addEventListener('beforeprint', () => this.fill(true));
      this.buildReadout();
      this.layout();
      let width = this.stage.clientWidth;
      new ResizeObserver(() => {
        if (Math.abs(this.stage.clientWidth - width) < 1) return;
        width = this.stage.clientWidth;
        this.layout();
      }).observe(this.stage);
      figure.dataset.ready = 'true';
    }

    // ---- the numbers of the present state
    get state() {
      let at = 0;
      this.spec.knobs.forEach((knob, k) => { at = at * knob.texts.length + this.index[k]; });
      return at;
    }
    size(number) { const ref = this.spec.refs[number]; return ref.fixed ? ref.fixed.length : ref.n; }
    value(number, item) {
      const ref = this.spec.refs[number];
      if (ref.fixed) { const v = ref.fixed[item % ref.fixed.length]; return v === null ? NaN : v; }
      return restore(ref, this.steps[ref.at + this.now * ref.n + item]);
    }
    word(number) {
      const ref = this.spec.refs[number];
      return ref.text !== undefined ? ref.text : this.words[this.steps[ref.words + this.now]];
    }
    nice(value, unit) { return nice(value, unit, this.spec.ladders, this.spec.gap); }
    named(value, axis) {
      if (!axis.categories.length) return this.nice(value, axis.unit);
      return Number.isFinite(value) ? axis.categories[Math.round(value)] : this.spec.gap;
    }

    // ---- what the width decides
    layout() {
      const { spec, stage } = this, width = Math.max(240, stage.clientWidth);
      family = getComputedStyle(stage).fontFamily;
      const focused = document.activeElement === this.reader;
      const svg = node('svg', { role: 'img', 'aria-label': spec.alt, width, class: 'nx-svg' });
      const plain = spec.panels.some((p) => p.parts.some((d) => d.kind === 'diagram'));
      const sum = spec.panels.reduce((s, p) => s + p.height, 0);
      const unit = Math.round(Math.min(300, Math.max(190, width * 0.42)) * (plain ? 1.15 : 1));
      const ticksY = spec.panels.map((p) => thinned(p.y, unit * p.height, true));
      const wide = plain ? 0 : Math.max(...ticksY.flat().map((t) => textWidth(t[1])), 12);
      const left = plain ? 4 : Math.ceil(wide) + 12, right = plain ? width - 4 : width - 16;
      this.left = left; this.right = right;
      this.px = place(spec.x, left, right);
      let ticksX = [], deep = 1;
      if (!plain) {
        ticksX = thinned(spec.x, right - left, false);
        if (spec.x.categories.length) {
          const room = (right - left) / spec.x.categories.length - 6;
          ticksX = spec.x.ticks.map((t) => [t[0], wrap(t[1], room)]);
          if (ticksX.some((t) => t[1].some((line) => textWidth(line) > room))) // a word too wide: every second name one line lower
            ticksX = spec.x.ticks.map((t, i) => [t[0], i % 2 ? ['', t[1]] : [t[1]]]);
          deep = Math.max(...ticksX.map((t) => t[1].length));
        } else ticksX = ticksX.map((t) => [t[0], [t[1]]]);
      }
      let top = plain ? 4 : 24;
      this.moves = [];
      const labels = [];
      this.panels = spec.panels.map((panel, p) => {
        const bottom = top + Math.round(unit * panel.height);
        const made = { panel, top, bottom, py: place(panel.y, bottom, top), dots: [] };
        const last = p === spec.panels.length - 1;
        if (!plain) this.axes(svg, made, ticksX, ticksY[p], last);
        const clip = `${this.figure.id}-clip-${p}`;
        node('rect', { x: left, y: top - 1, width: right - left, height: bottom - top + 2 }, node('clipPath', { id: clip }, svg));
        const inside = node('g', plain ? {} : { 'clip-path': `url(#${clip})` }, svg);
        // marks may stand on the frame itself: their clip is half a mark wider
        node('rect', { x: left - 6, y: top - 6, width: right - left + 12, height: bottom - top + 12 }, node('clipPath', { id: `${clip}-marks` }, svg));
        made.marks = node('g', { 'clip-path': `url(#${clip}-marks)` }, svg);
        const over = node('g', {}, svg);
        labels.push(over);
        const rules = panel.parts.filter((d) => d.kind === 'rule');
        panel.parts.forEach((part) => this.moves.push(this[part.kind](part, made, inside, over, rules.indexOf(part))));
        top = bottom + (last ? 0 : 44);
        return made;
      });
      let height = top + 4;
      if (!plain) {
        height = top + 8 + deep * 15 + 20;
        node('text', { x: (left + right) / 2, y: height - 6, 'text-anchor': 'middle' }, svg).textContent = spec.x.label;
      }
      set(svg, 'height', String(height));
      set(svg, 'viewBox', `0 0 ${width} ${height}`);
      this.hair = node('line', { class: 'nx-hair', y1: this.panels[0].top, y2: top, visibility: 'hidden' }, svg);
      this.dots = node('g', { class: 'nx-dots' }, svg);
      this.panels.forEach((made) => {
        made.dots = made.panel.parts.map((part) => (part.kind === 'line' || part.kind === 'points'
          ? node('circle', { r: 4, class: 'nx-dot', style: `--ink:var(--nx-${part.ink})` }, this.dots) : null));
      });
      svg.append(...labels); // words lie above the cursor
      stage.replaceChildren(svg);
      if (this.reader) {
        stage.appendChild(this.reader);
        const pad = plain ? 0 : 10; // half a thumb: the thumb's centre runs from end to end of the axis
        const step = spec.x.categories.length ? (right - left) / spec.x.categories.length / 2 : 0;
        this.track = { from: left + step, span: right - left - 2 * step };
        this.reader.style.cssText = `left:${left + step - pad}px;width:${right - left - 2 * step + 2 * pad}px;top:${(plain ? height : top) - 12}px`;
        stage.style.paddingBottom = plain ? '14px' : '';
        if (focused) this.reader.focus();
      }
      const follow = (event) => this.follow(event, svg);
      svg.addEventListener('pointermove', follow);
      svg.addEventListener('pointerdown', follow);
      this.move();
    }

    axes(svg, made, ticksX, ticksY, last) {
      const { left, right } = this, { top, bottom, py, panel } = made, bars = this.spec.x.categories.length > 0;
      const frame = node('g', { class: 'nx-axes' }, svg);
      for (const [value, text] of ticksY) {
        const y = crisp(py(value));
        node('line', { x1: left, x2: right, y1: y, y2: y, class: 'nx-grid' }, frame);
        node('text', { x: left - 7, y, dy: '0.35em', 'text-anchor': 'end' }, frame).textContent = text;
      }
      for (const [value, lines] of ticksX) {
        const x = crisp(this.px(value));
        if (!bars) node('line', { x1: x, x2: x, y1: top, y2: bottom, class: 'nx-grid' }, frame);
        if (last) lines.forEach((text, i) => {
          node('text', { x, y: bottom + 18 + 15 * i, 'text-anchor': 'middle' }, frame).textContent = text;
        });
      }
      node('path', { d: `M${left + 0.5} ${top}V${bottom + 0.5}H${right}`, class: 'nx-spine' }, frame);
      node('text', { x: 0, y: top - 10 }, frame).textContent = panel.y.label;
    }

    // ---- elements: each draws itself once and returns what moves it
    line(part, made, inside) {
      const dash = this.spec.inks[part.ink].dash, style = `--ink:var(--nx-${part.ink})`;
      const area = part.area ? node('path', { class: 'nx-area', style }, inside) : null;
      const path = node('path', { class: 'nx-line', style, 'stroke-dasharray': dash.join(' ') || 'none' }, inside);
      const still = this.spec.refs[part.x].fixed && Array.from({ length: this.size(part.y) }, (_, i) => this.px(this.value(part.x, i)).toFixed(1));
      return () => {
        let d = '', fill = '', pen = false, first = 0, x = 0;
        for (let i = 0, n = this.size(part.y); i < n; i++) {
          const y = made.py(this.value(part.y, i));
          x = still ? still[i] : this.px(this.value(part.x, i)).toFixed(1);
          if (!Number.isFinite(y) || x === 'NaN') { if (pen && area) fill += `L${first[1]} ${made.bottom}L${first[0]} ${made.bottom}z`; pen = false; continue; }
          const point = `${pen ? 'L' : 'M'}${x} ${Math.max(-9999, Math.min(9999, y)).toFixed(1)}`;
          if (!pen) first = [x, x];
          first[1] = x;
          d += point; fill += point; pen = true;
        }
        set(path, 'd', d || 'M0 0');
        if (area) set(area, 'd', (fill || 'M0 0') + (pen ? `L${first[1]} ${made.bottom}L${first[0]} ${made.bottom}z` : ''));
      };
    }

    points(part, made) {
      const mark = MARKS[this.spec.inks[part.ink].marker], style = `--ink:var(--nx-${part.ink})`;
      const path = node('path', { class: 'nx-point', style }, made.marks);
      return () => {
        let d = '';
        for (let i = 0, n = this.size(part.y); i < n; i++) {
          const x = this.px(this.value(part.x, i)), y = made.py(this.value(part.y, i));
          if (Number.isFinite(x) && Number.isFinite(y)) d += mark.replace(/^M(-?[\d.]+)(-| )([\d.]+)/, (_, a, s, b) => `M${(x + +a).toFixed(1)} ${(y + +(s === '-' ? '-' + b : b)).toFixed(1)}`);
        }
        set(path, 'd', d || 'M0 0');
      };
    }

    bars(part, made, inside) {
      const room = (this.right - this.left) / this.spec.x.categories.length;
      const width = Math.min(64, room * 0.8 / part.slots), n = this.size(part.y);
      const hatch = part.slot + made.panel.parts.indexOf(part);
      const made_bars = Array.from({ length: n }, () => node('path', { class: 'nx-bar', style: `--ink:var(--nx-${part.ink})` }, inside));
      const hatches = hatch % 4 ? made_bars.map(() => node('path', { class: 'nx-hatch' }, inside)) : [];
      return () => {
        for (let i = 0; i < n; i++) {
          const foot = this.value(part.foot, i), head = this.value(part.head, i);
          const low = made.panel.y.log && foot <= 0 ? made.bottom : made.py(foot), high = made.py(head);
          const x = this.px(i) - (width * part.slots) / 2 + width * part.slot;
          const box = Math.abs(high - low) > 0.05 // neither a gap nor a bar of no height
            ? `M${x.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}h${width.toFixed(1)}V${low.toFixed(1)}z` : 'M0 0';
          set(made_bars[i], 'd', box);
          if (!hatches.length) continue;
          let d = '';
          const y0 = Math.min(low, high), y1 = Math.max(low, high), gap = 7;
          if (box !== 'M0 0') {
            if (hatch % 4 === 2) for (let y = y1 - gap / 2; y > y0; y -= gap) d += `M${x} ${y.toFixed(1)}h${width.toFixed(1)}`;
            else for (let c = gap; c < width + (y1 - y0); c += gap) { // slanted, clipped to the bar by hand
              const a = Math.max(0, c - (y1 - y0)), b = Math.min(c, width);
              const [p, q] = hatch % 4 === 1 ? [y1 - (c - a), y1 - (c - b)] : [y0 + (c - a), y0 + (c - b)];
              d += `M${(x + a).toFixed(1)} ${p.toFixed(1)}L${(x + b).toFixed(1)} ${q.toFixed(1)}`;
            }
          }
          set(hatches[i], 'd', d || 'M0 0');
        }
      };
    }

    spans(part, made, inside) { // bars of a timetable; the second series is light, the third striped
      const order = made.panel.parts.filter((p) => p.kind === 'spans').indexOf(part), n = this.size(part.start);
      const style = `--ink:var(--nx-${part.ink})`, light = order % 2 === 1, striped = order % 4 >= 2;
      const path = node('path', { class: light ? 'nx-span-light' : 'nx-bar', style }, inside);
      const stripe = striped ? node('path', { class: light ? 'nx-line' : 'nx-hatch', style }, inside) : null;
      const names = Array.from({ length: n }, () => node('text', { class: light ? 'nx-span-name' : 'nx-span-name nx-on-ink', 'text-anchor': 'middle', dy: '0.35em' }, inside));
      return () => {
        let d = '', lines = '';
        for (let i = 0; i < n; i++) {
          const row = this.value(part.row, i), tall = this.value(part.tall, i);
          const x0 = this.px(this.value(part.start, i)), x1 = this.px(this.value(part.end, i));
          const y0 = made.py(row + tall / 2), y1 = made.py(row - tall / 2);
          const seen = [x0, x1, y0, y1].every(Number.isFinite), label = this.value(part.label, i);
          const word = seen && Number.isFinite(label) ? String(Math.round(label)) : '';
          const fits = word && x1 - x0 > 7.5 * word.length + 2 && y1 - y0 > 11;
          set(names[i], 'visibility', fits ? 'visible' : 'hidden');
          if (!seen) continue;
          d += `M${x0.toFixed(1)} ${y0.toFixed(1)}H${x1.toFixed(1)}V${y1.toFixed(1)}H${x0.toFixed(1)}z`;
          lines += `M${x0.toFixed(1)} ${(y1 - 0.16 * (y1 - y0)).toFixed(1)}H${x1.toFixed(1)}`;
          if (fits) { say(names[i], word); set(names[i], 'x', ((x0 + x1) / 2).toFixed(1)); set(names[i], 'y', ((y0 + y1) / 2).toFixed(1)); }
        }
        set(path, 'd', d || 'M0 0');
        if (stripe) set(stripe, 'd', lines || 'M0 0');
      };
    }
    running(part, axis, x) { // the rows in which a series is at work at x
      const rows = new Set();
      for (let i = 0, n = this.size(part.start); i < n; i++)
        if (this.value(part.start, i) <= x && x < this.value(part.end, i)) rows.add(Math.round(this.value(part.row, i)));
      return [...rows].sort((a, b) => b - a).map((row) => axis.categories[row]);
    }

    rule(part, made, inside, over, order) {
      const upright = part.along === 'x', { top, bottom } = made, { left, right } = this;
      const style = `--ink:var(--nx-${part.ink})`, axis = upright ? this.spec.x : made.panel.y;
      const line = node('line', { class: 'nx-rule', style }, inside), text = node('text', { class: 'nx-halo' }, over);
      return () => {
        const value = this.value(part.at, 0), seen = Number.isFinite(value);
        const within = seen && value >= axis.low && value <= axis.high;
        set(line, 'visibility', within ? 'visible' : 'hidden');
        set(text, 'visibility', seen ? 'visible' : 'hidden');
        if (!seen) return;
        const above = value > axis.high;
        let words = this.word(part.text);
        const at = within ? (upright ? this.px : made.py)(value) : (upright ? (above ? right : left) : (above ? top : bottom));
        if (upright) {
          set(line, 'x1', at.toFixed(1)); set(line, 'x2', at.toFixed(1)); set(line, 'y1', top); set(line, 'y2', bottom);
          if (!within) words = above ? `${words} →` : `← ${words}`;
          const wide = textWidth(words), before = at - 5 - wide >= left, after = at + 5 + wide <= right;
          const flip = before === after ? at > (left + right) / 2 : before; // away from the edge, and where there is room
          set(text, 'x', (flip ? Math.max(at - 5, left + 5 + wide) : Math.min(at + 5, Math.max(left + 5, right - wide))).toFixed(1));
          set(text, 'y', String(top + 14 + 16 * order));
          set(text, 'text-anchor', flip ? 'end' : 'start');
        } else {
          set(line, 'y1', at.toFixed(1)); set(line, 'y2', at.toFixed(1)); set(line, 'x1', left); set(line, 'x2', right);
          if (!within) words = `${words} ${above ? '↑' : '↓'}`;
          set(text, 'x', String(left + 6)); set(text, 'y', Math.max(top + 14, at - 5).toFixed(1));
        }
        say(text, words);
      };
    }

    heat(part, made, inside, over) {
      const classes = part.colour.categories, n = classes.length || 8, nx = part.xe.length - 1, ny = part.ye.length - 1;
      const xs = part.xe.map((v) => this.px(v).toFixed(1)), ys = part.ye.map((v) => made.py(v).toFixed(1));
      const levels = Array.from({ length: n }, (_, k) => node('path', classes.length
        ? { class: 'nx-class', style: `--ink:var(--nx-${part.inks[k]})` } : { class: 'nx-cell', style: `--ink:var(--nx-ramp-${k})` }, inside));
      const names = classes.map((name) => { const t = node('text', { class: 'nx-halo', 'text-anchor': 'middle', dy: '0.35em' }, over); t.textContent = name; return t; });
      const level = this.level(part.colour, n), widths = classes.map((name) => textWidth(name) + 6);
      made.cell = node('rect', { class: 'nx-cursor-cell' }, over);
      return () => {
        const d = Array(n).fill(''), runs = classes.map(() => []);
        for (let j = 0; j < ny; j++) {
          for (let i = 0; i < nx;) { // neighbours of one level share a rectangle
            const k = level(this.value(part.z, j * nx + i));
            let e = i + 1;
            while (e < nx && level(this.value(part.z, j * nx + e)) === k) e++;
            if (k >= 0) {
              d[k] += `M${xs[i]} ${ys[j]}H${xs[e]}V${ys[j + 1]}H${xs[i]}z`;
              if (classes.length) runs[k].push([j, i, e]);
            }
            i = e;
          }
        }
        levels.forEach((path, k) => set(path, 'd', d[k] || 'M0 0'));
        names.forEach((text, k) => {
          let half = runs[k].reduce((sum, [, i, e]) => sum + e - i, 0) / 2, row = -1; // the median row of the region
          for (const [j, i, e] of runs[k]) { half -= e - i; if (half <= 0) { row = j; break; } }
          const [j, i, e] = runs[k].filter((run) => run[0] === row).sort((a, b) => b[2] - b[1] - a[2] + a[1])[0] || [0, 0, 0];
          set(text, 'visibility', xs[e] - xs[i] > widths[k] ? 'visible' : 'hidden');
          set(text, 'x', String((+xs[i] + +xs[e]) / 2)); set(text, 'y', String((+ys[j] + +ys[j + 1]) / 2));
        });
      };
    }
    level(axis, n) {
      if (axis.categories.length) return (v) => (Number.isFinite(v) ? Math.round(v) : -1);
      const at = place(axis, 0, n);
      return (v) => { const t = at(v); return Number.isFinite(t) ? Math.max(0, Math.min(n - 1, Math.floor(t))) : -1; };
    }

    diagram(part, made, inside) {
      const { top, bottom } = made, { left, right } = this, high = 22;
      const x = (k) => left + 40 + part.at[k][0] * (right - left - 80), y = (k) => bottom - 16 - part.at[k][1] * (bottom - top - 32);
      const both = new Set(part.links.map(([a, b]) => `${a},${b}`));
      made.ends = part.links.map(([a, b]) => {
        const dx = x(b) - x(a), dy = y(b) - y(a), length = Math.hypot(dx, dy) || 1, off = both.has(`${b},${a}`) ? 4 : 0;
        return [x(a) - (dy / length) * off, y(a) + (dx / length) * off, x(b) - (dy / length) * off, y(b) + (dx / length) * off];
      });
      const links = made.ends.map(([x1, y1, x2, y2], e) => node('line', { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1),
        'stroke-width': (1.5 + 4 * part.width[e]).toFixed(1), class: 'nx-link' }, inside));
      if (part.links.length <= 64) made.ends.forEach(([x1, y1, x2, y2]) => {
        const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
        node('path', { d: 'M-5-4.5L5 0L-5 4.5z', class: 'nx-arrow', transform: `translate(${(x1 + (x2 - x1) * 0.62).toFixed(1)} ${(y1 + (y2 - y1) * 0.62).toFixed(1)}) rotate(${turn.toFixed(1)})` }, inside);
      });
      made.spot = node('line', { class: 'nx-spot', visibility: 'hidden' }, inside);
      const fills = part.boxes.map((name, k) => {
        let room = 140;
        part.at.forEach((at, o) => { if (o !== k && Math.abs(at[1] - part.at[k][1]) < 0.03) room = Math.min(room, Math.abs(x(o) - x(k))); });
        const wants = textWidth(name) + 12, fits = wants <= room - 3, w = fits ? wants : Math.max(6, Math.min(14, room - 3));
        const box = { x: (x(k) - w / 2).toFixed(1), y: (y(k) - high / 2).toFixed(1), width: w.toFixed(1), height: high, rx: 3 };
        node('title', {}, node('rect', { ...box, class: 'nx-box' }, inside)).textContent = name;
        const fill = node('rect', { ...box, class: 'nx-fill' }, inside);
        if (fits) node('text', { x: x(k).toFixed(1), y: y(k).toFixed(1), dy: '0.35em', 'text-anchor': 'middle' }, inside).textContent = name;
        return fill;
      });
      return () => {
        links.forEach((line, e) => {
          const load = this.value(part.load, e);
          const kind = !Number.isFinite(load) ? 'broken' : load > 1 + 5e-4 /* packing rounds a full link */ ? 'over' : String(2 + Math.min(5, Math.floor(Math.max(0, load) * 5.999)));
          set(line, 'data-load', kind);
        });
        fills.forEach((fill, k) => {
          const share = Math.max(0, Math.min(1, this.value(part.fill, k) || 0));
          set(fill, 'height', (high * share).toFixed(1)); set(fill, 'y', (y(k) + high / 2 - high * share).toFixed(1));
        });
      };
    }

    // ---- the readout: a legend whose entries carry the values under the cursor
    buildReadout() {
      const { spec } = this, legend = this.figure.querySelector('.nx-legend');
      const parts = spec.panels.flatMap((panel) => panel.parts.map((part) => ({ part, panel })));
      this.entries = [];
      this.where = html('span', 'nx-where', legend);
      for (const { part, panel } of parts) {
        if (part.kind === 'rule') continue;
        const entry = html('span', 'nx-entry', legend), look = spec.inks[part.ink];
        const swatch = node('svg', { width: 26, height: 12, 'aria-hidden': 'true', style: `--ink:var(--nx-${part.ink})` });
        if (part.kind === 'line') node('path', { d: 'M0 6H26', class: 'nx-line', 'stroke-dasharray': look.dash.join(' ') || 'none' }, swatch);
        if (part.kind === 'points') node('path', { d: MARKS[look.marker], class: 'nx-point', transform: 'translate(13 6)' }, swatch);
        if (part.kind === 'bars') {
          node('rect', { x: 2, width: 22, height: 12, class: 'nx-bar' }, swatch);
          const hatch = (part.slot + panel.parts.indexOf(part)) % 4;
          if (hatch) node('path', { class: 'nx-hatch', d: ['', 'M2 8l8-8M6 12l12-12M15 12l9-9', 'M2 3h22M2 9h22', 'M2 4l8 8M8 0l12 12M17 0l7 7'][hatch] }, swatch);
        }
        if (part.kind === 'spans') {
          const order = panel.parts.filter((p) => p.kind === 'spans').indexOf(part);
          node('rect', { x: 2, width: 22, height: 12, class: order % 2 ? 'nx-span-light' : 'nx-bar' }, swatch);
          if (order % 4 >= 2) node('path', { d: 'M2 9h22', class: order % 2 ? 'nx-line' : 'nx-hatch' }, swatch);
        }
        if (part.kind === 'heat' || part.kind === 'diagram') { this.scale(part, legend); swatch.remove(); } else entry.append(swatch);
        html('span', 'nx-name', entry, part.kind === 'heat' ? part.colour.label : part.name);
        const value = html('span', 'nx-value', entry);
        this.entries.push({ part, panel, value, entry });
      }
      // the cursor walks along the longest curve, the categories, the columns of a heat map, or the links of a diagram
      const kinds = ['heat', 'line', ...(spec.x.categories.length ? ['bars', 'points'] : ['points', 'bars']), 'spans', 'diagram'];
      const base = kinds.map((k) => parts.filter((q) => q.part.kind === k)
        .sort((a, b) => this.count(b.part) - this.count(a.part))[0]).find(Boolean);
      if (!base) return;
      this.base = base;
      const reader = html('input', ['diagram', 'points'].includes(base.part.kind) ? 'nx-reader nx-tracked' : 'nx-reader');
      Object.assign(reader, { type: 'range', min: 0, max: this.count(base.part) - 1, step: 1 });
      this.cursor = Math.floor(+reader.max / (base.part.kind === 'bars' ? 1e9 : 2));
      reader.value = String(this.cursor);
      reader.setAttribute('aria-label', base.part.kind === 'diagram' ? 'read a link' : `read values along ${spec.x.name}`);
      reader.addEventListener('input', () => { this.cursor = +reader.value; this.read(); });
      if (base.part.kind === 'heat') {
        this.row = Math.floor((base.part.ye.length - 1) / 2);
        reader.addEventListener('keydown', (event) => {
          const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
          if (!step) return;
          event.preventDefault();
          this.row = Math.max(0, Math.min(base.part.ye.length - 2, this.row + step));
          this.read();
        });
      }
      this.reader = reader;
    }
    scale(part, legend) {
      const bar = html('span', 'nx-scale', legend);
      const swatch = (style, className) => html('i', className, bar).setAttribute('style', style);
      if (part.kind === 'diagram') {
        html('span', '', bar, 'load 0');
        for (let k = 2; k < 8; k++) swatch(`--ink:var(--nx-ramp-${k})`);
        html('span', '', bar, '100 %');
        swatch('--ink:var(--nx-failure)', 'nx-dashed'); html('span', '', bar, 'over');
        swatch('--ink:var(--nx-bound)', 'nx-dotted'); html('span', '', bar, 'broken');
        return;
      }
      part.colour.categories.forEach((name, k) => { swatch(`--ink:var(--nx-${part.inks[k]})`, 'nx-class'); html('span', '', bar, name); });
      if (part.colour.categories.length) return;
      html('span', '', bar, this.nice(part.colour.low, part.colour.unit));
      for (let k = 0; k < 8; k++) swatch(`--ink:var(--nx-ramp-${k})`);
      html('span', '', bar, this.nice(part.colour.high, part.colour.unit));
    }
    count(part) {
      if (part.kind === 'heat') return part.xe.length - 1;
      if (part.kind === 'spans') return 97; // moments along the axis
      return part.kind === 'diagram' ? part.links.length : this.size(part.y);
    }

    follow(event, svg) {
      const box = svg.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, base = this.base;
      if (!base) return;
      let best = Infinity, found = this.cursor;
      const n = this.count(base.part);
      if (base.part.kind === 'diagram') {
        const { ends } = this.panels[this.spec.panels.indexOf(base.panel)];
        ends.forEach(([x1, y1, x2, y2], e) => {
          const t = Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2 || 1)));
          const far = Math.hypot(x - x1 - t * (x2 - x1), y - y1 - t * (y2 - y1));
          if (far < best) { best = far; found = e; }
        });
      } else {
        const { py } = this.panels[this.spec.panels.indexOf(base.panel)];
        for (let i = 0; i < n; i++) {
          // scattered points share an x: then the nearer one in y is meant
          const up = base.part.kind === 'points' ? py(this.value(base.part.y, i)) - y : 0;
          const far = Math.hypot(this.px(this.along(base.part, i)) - x, up);
          if (far < best) { best = far; found = i; }
        }
        if (base.part.kind === 'heat') {
          const { ye } = base.part;
          for (let j = 0; j < ye.length - 1; j++) if (y <= py(ye[j]) && y >= py(ye[j + 1])) this.row = j;
        }
      }
      this.cursor = found;
      this.reader.value = String(found);
      this.read();
    }
    along(part, i) {
      if (part.kind === 'spans') return this.spec.x.low + (this.spec.x.high - this.spec.x.low) * i / 96;
      return part.kind === 'bars' ? i : this.value(part.x, i);
    }

    read() {
      const { spec, base } = this;
      if (!base) return;
      const x = base.part.kind === 'diagram' ? NaN : this.along(base.part, this.cursor);
      const said = [];
      if (base.part.kind === 'diagram') {
        const [a, b] = base.part.links[this.cursor];
        said.push(`${base.part.boxes[a]} → ${base.part.boxes[b]}`);
      } else said.push(`at ${spec.x.categories.length ? spec.x.categories[x] : this.nice(x, spec.x.unit)}`);
      if (base.part.kind === 'heat') said[0] += `, ${this.nice(this.value(base.part.y, this.row), base.panel.y.unit)}`;
      say(this.where, said[0]);
      const px = this.px(x);
      if (base.part.kind === 'line' && this.track) {
        // the slider steps by point, the points need not be even: the thumb goes where the point is
        const even = this.track.from + this.track.span * this.cursor / (+this.reader.max || 1);
        this.reader.style.setProperty('--nx-shift', `${(px - even).toFixed(1)}px`);
      }
      for (const { part, panel, value, entry } of this.entries) {
        let shown = NaN, text = '';
        if (part.kind === 'diagram') {
          shown = this.value(part.load, this.cursor);
          text = Number.isFinite(shown) ? this.nice(shown, '%') : 'broken';
        } else if (part.kind === 'heat') {
          shown = this.value(part.z, this.row * (part.xe.length - 1) + this.cursor);
          text = this.named(shown, part.colour);
        } else if (part.kind === 'spans') {
          const rows = this.running(part, panel.y, x);
          shown = rows.length;
          text = rows.join(', ') || this.spec.gap;
        } else {
          const i = this.nearest(part, x, px);
          shown = i < 0 ? NaN : this.value(part.y, i);
          text = i < 0 ? '' : this.nice(shown, panel.y.unit) + (part.notes && part.notes[i] ? ` (${part.notes[i]})` : '');
          const made = this.panels[spec.panels.indexOf(panel)], dot = made.dots[panel.parts.indexOf(part)];
          if (dot) {
            const y = made.py(shown), seen = i >= 0 && Number.isFinite(y) && y >= made.top - 1 && y <= made.bottom + 1;
            set(dot, 'visibility', seen ? 'visible' : 'hidden');
            if (seen) { set(dot, 'cx', this.px(this.value(part.x, i)).toFixed(1)); set(dot, 'cy', y.toFixed(1)); }
          }
        }
        say(value, text);
        set(value, 'data-value', String(shown));
        if (text) said.push(`${entry.querySelector('.nx-name').textContent} ${text}`);
      }
      if (Number.isFinite(px) && base.part.kind !== 'heat' && base.part.kind !== 'bars') {
        set(this.hair, 'visibility', 'visible'); set(this.hair, 'x1', px.toFixed(1)); set(this.hair, 'x2', px.toFixed(1));
      }
      const made = this.panels[spec.panels.indexOf(base.panel)];
      if (made.cell) {
        const { xe, ye } = base.part, x0 = this.px(xe[this.cursor]), y0 = made.py(ye[this.row + 1]);
        for (const [key, v] of [['x', x0], ['y', y0], ['width', this.px(xe[this.cursor + 1]) - x0], ['height', made.py(ye[this.row]) - y0]]) set(made.cell, key, v.toFixed(1));
      }
      if (made.spot) {
        const [x1, y1, x2, y2] = made.ends[this.cursor];
        for (const [key, v] of [['x1', x1], ['y1', y1], ['x2', x2], ['y2', y2]]) set(made.spot, key, v.toFixed(1));
        set(made.spot, 'visibility', 'visible');
      }
      set(this.reader, 'aria-valuetext', said.join(', '));
    }
    nearest(part, x, px) {
      const n = this.size(part.y);
      if (part.kind === 'bars') return x < n ? x : -1;
      if (part === this.base.part) return this.cursor;
      let best = Infinity, found = -1;
      for (let i = 0; i < n; i++) {
        if (part.kind === 'points' && !Number.isFinite(this.value(part.y, i))) continue;
        const far = Math.abs(this.px(this.value(part.x, i)) - px);
        if (far < best) { best = far; found = i; }
      }
      return best <= (part.kind === 'points' ? 18 : 6 + (this.right - this.left) / n) ? found : -1;
    }

    // ---- what the state decides
    move() {
      const { spec } = this;
      this.now = this.state;
      spec.knobs.forEach((knob, k) => {
        const text = knob.texts[this.index[k]];
        say(this.outputs[k], text);
        set(this.inputs[k], 'aria-valuetext', text);
      });
      for (const draw of this.moves) draw();
      this.read();
      say(this.figure.querySelector('.nx-reading'), this.word(spec.reading));
      const failure = this.figure.querySelector('.nx-failure'), words = this.word(spec.failure);
      say(failure, words);
      failure.hidden = !words;
      this.figure.classList.toggle('nx-failed', Boolean(words));
      this.fill();
    }
    fill(always) { // the tables, when someone sees them
      if (!always && !this.details.open) return;
      const bodies = this.figure.querySelectorAll('.nx-tables tbody');
      this.spec.tables.forEach((table, t) => table.rows.forEach((row, r) => row.forEach((cell, c) => {
        if (typeof cell === 'string') return;
        const [number, item, unit, categories, gap] = cell, ref = this.spec.refs[number];
        let text;
        if (ref.text !== undefined || ref.words !== undefined) text = this.word(number);
        else {
          const value = this.value(number, item);
          text = !Number.isFinite(value) ? gap : categories.length ? categories[Math.round(value)] : this.nice(value, unit);
          set(bodies[t].rows[r].cells[c], 'data-value', String(value));
        }
        say(bodies[t].rows[r].cells[c], text);
      })));
    }
  }

  function start(figure) {
    const made = new Explorer(figure);
    made.start().catch((error) => { // the still picture stays; say why it does not move
      html('p', 'nx-failure', figure, `This figure cannot move here: ${error.message}`);
      console.error(error);
    });
  }
  const begin = () => document.querySelectorAll('.nx-figure[data-explorer]:not([data-ready])').forEach(start);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin); else begin();
  window.netlibWords = nice; // the tests hold it against Python's
})();
