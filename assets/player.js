/* Players: plays the schedules that netlib.course.player_page bakes. Needs explorer.js for numbers in words.

   A figure's stories arrive as gzip'd JSON: what each cell holds at first, which cells change with each step, and the
   messages. Nothing is computed here but sums of bytes; the picture is laid out as in netlib/course/player_draw.py. */
(() => {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';
  const HEAD = 18, SWITCH = 24, BARS = 40;
  const still = window.matchMedia('(prefers-reduced-motion: reduce)');

  const node = (tag, attributes, parent, text) => {
    const made = document.createElementNS(SVG, tag);
    for (const key in attributes) made.setAttribute(key, typeof attributes[key] === 'number' ? attributes[key].toFixed(1) : attributes[key]);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  };
  const say = (element, text) => { if (element.textContent !== text) element.textContent = text; };
  const sum = (values) => values.reduce((a, b) => a + b, 0);

  async function unpack(spec) {
    const packed = Uint8Array.from(atob(spec.data), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return JSON.parse(await new Response(stream).text());
  }

  class Player {
    constructor(figure) {
      this.figure = figure;
      this.spec = JSON.parse(figure.querySelector('.nx-spec').textContent);
      this.find = (selector) => figure.querySelector(selector);
      this.svg = this.find('.nx-stage svg');
      this.slider = this.find('.nx-step');
      this.speed = this.find('.nx-speed select');
      this.reading = this.find('.nx-reading');
      this.k = 0;
    }

    async start() {
      const { figure, spec } = this;
      Object.assign(this, await unpack(spec));
      this.index = spec.knobs.map((k) => k.start);
      this.inputs = [...figure.querySelectorAll('.nx-knobs input')];
      this.outputs = [...figure.querySelectorAll('.nx-knobs output')];
      this.inputs.forEach((input, k) => {
        input.value = String(spec.knobs[k].start); // a reload may have kept another position
        input.addEventListener('input', () => { this.index[k] = +input.value; this.choose(); });
      });
      this.find('.nx-reset').addEventListener('click', () => {
        this.index = spec.knobs.map((k) => k.start);
        this.inputs.forEach((input, k) => { input.value = String(this.index[k]); });
        this.choose();
        this.go(0);
      });
      const actions = { start: () => this.go(0), back: () => this.go(this.k - 1), play: () => this.toggle(), next: () => this.go(this.k + 1, true) };
      for (const button of figure.querySelectorAll('[data-do]')) button.addEventListener('click', actions[button.dataset.do]);
      this.button = this.find('[data-do="play"]');
      this.slider.addEventListener('input', () => this.go(+this.slider.value));
      figure.addEventListener('keydown', (event) => this.key(event));
      this.details = this.find('.nx-data');
      this.details.addEventListener('toggle', () => this.fill());
      window.addEventListener('beforeprint', () => { this.pause(); this.fill(true); });
      for (const part of ['.nx-knobs', '.nx-transport', '.nx-stage']) this.find(part).hidden = false;
      this.find('.nx-strip').hidden = true;
      this.choose();
      const stage = this.find('.nx-stage');
      let width = stage.clientWidth;
      new ResizeObserver(() => {
        if (Math.abs(stage.clientWidth - width) < 1 || stage.clientWidth < 100) return; // hidden, or about to be measured
        width = stage.clientWidth;
        this.draw();
      }).observe(stage);
      figure.dataset.ready = 'true';
    }

    key(event) {
      const { target } = event, button = target.closest('button');
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('select, summary, a')) return;
      if (event.key === ' ' && !button) { this.toggle(); event.preventDefault(); return; } // a button takes its own space
      if (target.closest('.nx-knobs')) return; // arrows move the knob there
      const to = { ArrowRight: this.k + 1, ArrowUp: this.k + 1, ArrowLeft: this.k - 1, ArrowDown: this.k - 1, Home: 0, End: this.last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.go(to, to === this.k + 1);
    }

    // ---- the run that the knobs choose
    choose() {
      let at = 0;
      this.spec.knobs.forEach((knob, k) => {
        at = at * knob.texts.length + this.index[k];
        say(this.outputs[k], knob.texts[this.index[k]]);
        this.inputs[k].setAttribute('aria-valuetext', knob.texts[this.index[k]]);
      });
      const [number, size, seconds] = this.states[at], story = this.stories[number];
      const share = this.last ? this.k / this.last : 0;
      Object.assign(this, { size, seconds, story, last: story.steps.length });
      this.held = [story.first];
      for (const changes of story.then) {
        const now = this.held[this.held.length - 1].map((cells) => cells.slice());
        for (const [rank, chunk, parts] of changes) now[rank][chunk] = parts;
        this.held.push(now);
      }
      const ranks = story.names.length;
      this.sent = [new Array(ranks).fill(0)];
      this.received = [new Array(ranks).fill(0)];
      story.steps.forEach((step, k) => {
        this.sent.push(this.sent[k].slice());
        this.received.push(this.received[k].slice());
        for (const [a, b, , chunks] of step) { this.sent[k + 1][a] += this.bytes(chunks); this.received[k + 1][b] += this.bytes(chunks); }
      });
      this.elapsed = [0];
      for (const s of seconds) this.elapsed.push(this.elapsed[this.elapsed.length - 1] + s);
      this.slider.max = String(this.last);
      const time = this.find('.nx-time'), total = sum(seconds) || 1;
      time.replaceChildren(...seconds.map((s) => { const part = document.createElement('i'); part.style.flexGrow = String(s / total); return part; }));
      this.pause();
      this.tables();
      this.k = Math.round(share * this.last);
      this.draw();
    }
    bytes(chunks) { return this.size * sum(chunks.map((c) => this.story.weight[c])); }
    nice(value, unit) { return window.netlibWords(value, unit, this.spec.ladders, this.spec.gap); }

    // ---- walking
    go(k, moving) {
      this.pause();
      const to = Math.max(0, Math.min(this.last, k));
      if (moving && to === this.k + 1 && !still.matches) this.fly(to, 450);
      else { this.stop(); this.k = to; this.show(); }
    }
    toggle() { if (this.playing) { this.pause(); this.settle(); } else this.play(); }
    play() {
      if (this.k >= this.last) { this.stop(); this.k = 0; this.show(); }
      this.playing = true;
      this.settle();
      this.reading.setAttribute('aria-live', 'off'); // a sentence a second would drown everything else
      say(this.button, 'Pause');
      this.beat();
    }
    pause() {
      clearTimeout(this.timer);
      this.playing = false;
      this.reading.setAttribute('aria-live', 'polite');
      if (this.button) say(this.button, 'Play');
    }
    beat() {
      if (!this.playing) return;
      if (this.k >= this.last) { this.pause(); return; }
      const long = 1000 * this.speed.value;
      if (still.matches) { this.k += 1; this.show(); } else this.fly(this.k + 1, 0.6 * long);
      this.timer = setTimeout(() => this.beat(), long);
    }
    stop() { cancelAnimationFrame(this.frame); this.flying = 0; }
    settle() { if (this.flying) { this.stop(); this.show(); } }
    // the messages of step k on their way: cells as before, arrows drawn, a dot along each
    fly(k, long) {
      this.stop();
      this.k = k;
      this.flying = k;
      this.show();
      const began = performance.now();
      const move = (now) => {
        const share = Math.min(1, Math.max(0, (now - began) / long));
        if (share >= 1) { this.flying = 0; this.show(); return; }
        const eased = share < 0.5 ? 2 * share * share : 1 - 2 * (1 - share) * (1 - share);
        for (const { path, dot, length } of this.dots) {
          const at = path.getPointAtLength(eased * length);
          dot.setAttribute('cx', at.x.toFixed(1)); dot.setAttribute('cy', at.y.toFixed(1));
        }
        this.frame = requestAnimationFrame(move);
      };
      this.frame = requestAnimationFrame(move);
    }

    // ---- what the run and the width decide
    draw() {
      const { story, svg } = this, n = story.n, P = story.weight.length, switches = story.names.length - n;
      const width = this.find('.nx-stage').clientWidth, bare = story.called[0] === '0', left = width >= 480 ? 58 : bare ? 18 : 32, column = (width - left - 4) / n;
      const folds = Math.ceil(P / 16), rows = Math.ceil(P / folds), cellW = Math.min(72, column * 0.8) / folds;
      const cellH = rows <= 6 ? 24 : rows <= 8 ? 20 : 15;
      const rise = (span) => Math.min(70, 12 + 8 * span);
      const reach = (way) => {
        const most = Math.max(0, ...story.steps.flat().filter(([a, b]) => a < n && b < n).map(([a, b]) => way * (b - a)));
        return most > 0 ? rise(most) + 12 : 4;
      };
      const top = (switches ? Math.max(SWITCH + 52, reach(1)) : reach(1)) + 4;
      const bottom = top + HEAD + rows * cellH + 5, foot = bottom + reach(-1) + 20 + BARS;
      const middle = (rank) => (rank < n ? left + column * (rank + 0.5) : left + ((width - left - 4) * (rank - n + 0.5)) / switches);
      const place = (rank, chunk) => {
        if (rank < n) return [middle(rank) - (cellW * folds) / 2 + cellW * Math.floor(chunk / rows), top + HEAD + cellH * (chunk % rows), cellW, cellH];
        const each = Math.min(cellW, (0.9 * (width - left)) / switches / P);
        return [middle(rank) + each * (chunk - P / 2), 4, each, SWITCH - 4];
      };
      this.arrow = ([from, to]) => {
        const a = middle(from), b = middle(to);
        if (Math.min(from, to) >= n) { // between switches: an arc below them
          const y = SWITCH + 2, x1 = a + (b - a) * 0.1, x2 = b - (b - a) * 0.1;
          return { d: `M${x1} ${y}C${x1} ${y + 26} ${x2} ${y + 26} ${x2} ${y}`, x: (x1 + x2) / 2, y: y + 23, tip: [x2, y, 0, -1] };
        }
        if (Math.max(from, to) >= n) {
          const up = to >= n, rank = up ? a - 5 : b + 5, spread = (up ? b : a) - 0.25 * ((up ? b : a) - (up ? a : b));
          const ends = up ? [rank, top, spread, SWITCH + 6] : [spread, SWITCH + 6, rank, top];
          const near = column >= 60 ? 0.35 : 0.15 + 0.3 * (Math.min(from, to) % 2), share = up ? near : 1 - near; // labels beside each other
          const [x1, y1, x2, y2] = ends, far = Math.hypot(x2 - x1, y2 - y1);
          return { d: `M${x1} ${y1}L${x2} ${y2}`, x: x1 + share * (x2 - x1), y: y1 + share * (y2 - y1) + 4, tip: [x2, y2, (x2 - x1) / far, (y2 - y1) / far] };
        }
        const way = b > a ? 1 : -1, base = way > 0 ? top : bottom, up = rise(Math.abs(to - from)) * way;
        const x1 = a + 5 * way, x2 = b - 5 * way, peak = base - (up * 4) / 3;
        return { d: `M${x1} ${base}C${x1} ${peak} ${x2} ${peak} ${x2} ${base}`, x: (x1 + x2) / 2, y: base - up + 4, tip: [x2, base, 0, way] };
      };
      this.foot = foot;
      svg.replaceChildren();
      svg.setAttribute('width', String(width));
      svg.setAttribute('height', String(Math.round(foot + 18)));
      for (let rank = 0; rank < n; rank++) node('text', { x: middle(rank), y: top + 13, 'text-anchor': 'middle' }, svg, column >= 46 ? `rank ${rank}` : String(rank));
      if (folds === 1) for (let chunk = 0; chunk < P; chunk++) node('text', { x: 0, y: place(0, chunk)[1] + cellH / 2 + 4 }, svg, left > 40 && bare ? `chunk ${story.called[chunk]}` : story.called[chunk]);
      for (let rank = n; rank < n + switches; rank++) node('text', { x: place(rank, 0)[0] - 6, y: SWITCH / 2 + 6, 'text-anchor': 'end' }, svg, story.names[rank].replace('the ', ''));
      this.cells = story.names.map((_, rank) => story.weight.map((__, chunk) => {
        const [x, y, w, h] = place(rank, chunk);
        node('rect', { x, y, width: w, height: h, class: 'nx-slot' }, svg);
        const fill = node('rect', { x: x + 1, width: w - 2, class: 'nx-parts' }, svg);
        const roomy = w >= 11 && h >= 14, text = node('text', { x: x + w / 2, y: y + h / 2 + 4, 'text-anchor': 'middle', class: 'nx-count' }, svg, '');
        return { fill, text, roomy, y, h };
      }));
      this.rings = node('g', {}, svg);
      this.ring = (rank, chunk) => { const [x, y, w, h] = place(rank, chunk); node('rect', { x, y, width: w, height: h, class: 'nx-changed' }, this.rings); };
      this.arrows = node('g', {}, svg);
      const most = Math.max(...this.sent[this.last].slice(0, n), ...this.received[this.last].slice(0, n), 0) || 1;
      this.most = most;
      this.unit = this.nice(most, 'iB').split(' ')[1];
      this.factor = this.spec.ladders.iB.find((r) => r[1] === this.unit)[0];
      node('text', { x: 0, y: foot - BARS - 8 }, svg, `sent (solid) and received (outlined) so far, ${this.unit}`);
      const wide = Math.min(18, column * 0.3);
      this.bars = Array.from({ length: n }, (_, rank) => ({
        out: node('rect', { x: middle(rank) - wide - 1, width: wide, class: 'nx-sent' }, svg),
        back: node('rect', { x: middle(rank) + 1, width: wide, class: 'nx-received' }, svg),
        text: node('text', { x: middle(rank), y: foot + 14, 'text-anchor': 'middle' }, svg, ''),
      }));
      node('line', { x1: left, x2: width - 4, y1: foot, y2: foot, class: 'nx-spine' }, svg);
      this.show();
    }

    // ---- what the step decides
    show() {
      const { story, k, flying } = this, seen = flying ? k - 1 : k, held = this.held[seen];
      this.cells.forEach((row, rank) => row.forEach((cell, chunk) => {
        const parts = held[rank][chunk], wanted = story.wanted[chunk], done = parts === wanted && story.needed[rank][chunk];
        const kind = parts < 0 ? 'wrong' : done ? 'done' : 'some', full = cell.h * Math.min(1, Math.abs(parts) / wanted);
        cell.fill.setAttribute('class', `nx-parts nx-${kind}`);
        cell.fill.setAttribute('y', (cell.y + cell.h - full + 1).toFixed(1));
        cell.fill.setAttribute('height', Math.max(0, full - 2).toFixed(1));
        cell.text.setAttribute('class', `nx-count nx-${kind}`);
        say(cell.text, cell.roomy ? (parts < 0 ? '✕' : done ? '✓' : parts && wanted > 1 ? String(parts) : '') : '');
      }));
      this.rings.replaceChildren();
      if (k && !flying) for (const [rank, chunk] of story.then[k - 1]) this.ring(rank, chunk);
      this.arrows.replaceChildren();
      this.dots = [];
      const labels = node('g', {});
      (k ? story.steps[k - 1] : []).forEach((message, i) => {
        const { d, x, y, tip: [tx, ty, dx, dy] } = this.arrow(message), first = i === 0 ? ' nx-first' : '';
        const path = node('path', { d, class: `nx-sends${message[2] ? '' : ' nx-keeps'}${first}` }, this.arrows);
        node('polygon', { points: [[tx, ty], [tx - 7 * dx - 4 * dy, ty - 7 * dy + 4 * dx], [tx - 7 * dx + 4 * dy, ty - 7 * dy - 4 * dx]].map((p) => p.map((v) => v.toFixed(1)).join()).join(' '), class: 'nx-tip' }, this.arrows);
        node('text', { x, y, 'text-anchor': 'middle', class: `nx-halo nx-what${first}` }, labels, message[4]);
        if (flying) this.dots.push({ path, length: path.getTotalLength(), dot: node('circle', { r: 5, cx: -20, cy: -20, class: 'nx-token' }, labels) });
      });
      this.arrows.append(labels);
      this.bars.forEach(({ out, back, text }, rank) => {
        for (const [bar, value] of [[out, this.sent[seen][rank]], [back, this.received[seen][rank]]]) {
          bar.setAttribute('y', (this.foot - (BARS * value) / this.most).toFixed(1));
          bar.setAttribute('height', ((BARS * value) / this.most).toFixed(1));
        }
        say(text, this.nice(this.sent[seen][rank] / this.factor, '').replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, ''));
      });
      this.slider.value = String(k);
      this.slider.setAttribute('aria-valuetext', k ? `after step ${k} of ${this.last}` : 'before the first step');
      [...this.find('.nx-time').children].forEach((part, i) => part.setAttribute('class', i < k - 1 || (i === k - 1 && !flying) ? 'nx-past' : i === k - 1 ? 'nx-present' : ''));
      const took = k ? `step ${k} takes ${this.nice(this.seconds[k - 1], 's')}; ` : '';
      say(this.find('.nx-clock'), `${took}${this.nice(this.elapsed[k], 's')} of ${this.nice(this.elapsed[this.last], 's')} elapsed`);
      say(this.reading, story.says[k]);
      this.svg.setAttribute('aria-label', `${this.spec.alt} ${story.says[k]}`);
      const failure = this.find('.nx-failure');
      say(failure, story.fault);
      failure.hidden = !story.fault;
      for (const [name, off] of [['start', k === 0], ['back', k === 0], ['next', k === this.last]]) this.find(`[data-do="${name}"]`).setAttribute('aria-disabled', String(off));
      this.fill();
    }

    // ---- the tables, when someone sees them
    tables() {
      const [steps, links] = this.figure.querySelectorAll('.nx-tables tbody'), { story } = this;
      const rows = (body, all) => body.replaceChildren(...all.map((cells) => {
        const row = document.createElement('tr');
        cells.forEach((text, i) => {
          const cell = document.createElement(i ? 'td' : 'th');
          if (!i) cell.scope = 'row';
          cell.textContent = text;
          row.append(cell);
        });
        return row;
      }));
      const total = sum(story.needed.flat());
      rows(steps, this.elapsed.map((t, k) => [String(k), k ? story.rows[k - 1] : '', k ? this.nice(this.seconds[k - 1], 's') : '', this.nice(t, 's'), `${story.finished[k]} of ${total}`]));
      const pairs = new Map();
      for (const step of story.steps) for (const [a, b] of step) pairs.set(a * 1000 + b, [a, b]);
      this.pairs = [...pairs.entries()].sort((p, q) => p[0] - q[0]).map((p) => p[1]);
      rows(links, this.pairs.map(([a, b]) => [`${story.names[a]} → ${story.names[b]}`, '', this.nice(this.carried(a, b, this.last), 'iB')]));
    }
    carried(a, b, until) {
      return sum(this.story.steps.slice(0, until).flat().filter((m) => m[0] === a && m[1] === b).map((m) => this.bytes(m[3])));
    }
    fill(always) {
      if (!always && !this.details.open) return;
      const [steps, links] = this.figure.querySelectorAll('.nx-tables tbody');
      [...steps.rows].forEach((row, k) => row.classList.toggle('nx-now', k === this.k));
      this.pairs.forEach(([a, b], i) => say(links.rows[i].cells[1], this.nice(this.carried(a, b, this.k), 'iB')));
    }
  }

  function start(figure) {
    new Player(figure).start().catch((error) => { // the strip of key steps stays; say why it does not move
      const words = document.createElement('p');
      words.className = 'nx-failure';
      words.textContent = `This figure cannot move here: ${error.message}`;
      figure.append(words);
      console.error(error);
    });
  }
  const begin = () => document.querySelectorAll('.nx-player:not([data-ready])').forEach(start);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin); else begin();
})();
