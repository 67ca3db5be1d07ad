'use strict';

// The token lives in this variable only: a reload of the page forgets it.
let token = '';
let timer = 0;
const REFRESH_MILLIS = 3000;
const MAX_ROWS = 500;

const byId = (id) => document.getElementById(id);

async function load(path) {
  const response = await fetch(path, { headers: { Authorization: 'Bearer ' + token }, cache: 'no-store' });
  const body = await response.json();
  if (!response.ok) {
    throw new Error(body.title + ': ' + body.detail);
  }
  return body.items;
}

// Only text is set, never markup: names and versions come from other parties.
function row(cells) {
  const tr = document.createElement('tr');
  for (const [text, style] of cells) {
    const td = document.createElement('td');
    td.textContent = text;
    if (style) {
      td.className = style;
    }
    tr.append(td);
  }
  return tr;
}

function fill(id, countId, items, cells) {
  byId(id).replaceChildren(...items.slice(0, MAX_ROWS).map((item) => row(cells(item))));
  byId(countId).textContent = items.length > MAX_ROWS ? `${items.length}, the first ${MAX_ROWS}` : items.length;
}

function say(text, failed) {
  byId('message').textContent = text;
  byId('message').className = failed ? 'error' : '';
}

async function refresh() {
  try {
    const [runtimes, tunnels] = await Promise.all([load('/api/v1/runtimes'), load('/api/v1/tunnels')]);
    fill('runtimes', 'runtime-count', runtimes, (runtime) => [
      [runtime.account + '/' + runtime.name], [runtime.host], [runtime.hosts.join(', ')],
      [runtime.state, runtime.state], [runtime.tunnels.length]]);
    fill('tunnels', 'tunnel-count', tunnels, (tunnel) => [
      [tunnel.account === null ? '(deleted)' : tunnel.account + '/' + tunnel.name], [tunnel.id], [tunnel.generation],
      [tunnel.state, tunnel.state], [new Date(tunnel.since).toLocaleString()],
      [tunnel.rttSeconds === null ? '' : (tunnel.rttSeconds * 1000).toFixed(1) + ' ms'], [tunnel.streams],
      [tunnel.remote], [tunnel.version]]);
    byId('content').hidden = false;
    say('Updated ' + new Date().toLocaleTimeString(), false);
  } catch (failure) {
    say(failure.message, true);
  }
  timer = setTimeout(refresh, REFRESH_MILLIS);
}

byId('login').addEventListener('submit', (event) => {
  event.preventDefault();
  token = byId('token').value.trim();
  byId('token').value = '';
  clearTimeout(timer);
  refresh();
});
