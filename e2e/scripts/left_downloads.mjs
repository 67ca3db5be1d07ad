// The upstream (serve SECONDS) and the caller (call OPTIONS-AS-JSON) of left_downloads.py.
import http from 'node:http';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import { performance } from 'node:perf_hooks';

const PIECE = 64 * 1024;

/** Bytes that are a download's own: its number again and again. */
function piece(id) {
  return Buffer.alloc(PIECE, `<download ${id}>`);
}

/** /large/ID?mib=N: N MiB of that download. /small/ID: the request again, as JSON, its body included. */
function serve(keepAlive) {
  const told = { connections: 0, requests: 0 };
  const server = http.createServer((request, response) => {
    told.requests++;
    const url = new URL(request.url, 'http://upstream');
    const id = url.pathname.split('/')[2];
    if (url.pathname.startsWith('/large/')) {
      const bytes = piece(id);
      let left = Number(url.searchParams.get('mib')) * (1 << 20) / PIECE;
      response.writeHead(200, { 'content-length': left * PIECE, 'x-id': id });
      const more = () => {
        while (left > 0 && !response.destroyed) {
          left--;
          if (!response.write(bytes)) return response.once('drain', more);
        }
        return response.end();
      };
      more();
      return;
    }
    const pieces = [];
    request.on('data', data => pieces.push(data));
    request.on('end', () => {
      const body = JSON.stringify({ id, method: request.method, body: Buffer.concat(pieces).toString('latin1') });
      response.writeHead(200, { 'content-length': Buffer.byteLength(body), 'x-id': id });
      response.end(body);
    });
  });
  server.keepAliveTimeout = keepAlive * 1000;
  server.headersTimeout = 120_000;
  server.on('connection', () => told.connections++);
  server.on('clientError', (e, socket) => socket.destroy());
  server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, () => console.log(JSON.stringify({ port: server.address().port })));
  process.on('SIGTERM', () => {
    console.log(JSON.stringify(told));
    process.exit(0);
  });
}

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

async function call(options) {
  const { Agent, request } = createRequire(options.modules + '/')('undici');
  const origin = `https://${options.host}:${options.port}`;
  // One connection each: with all lanes on one, it would have more resets than the edge permits (200 in 30 s).
  const connect = () => new Agent({
    allowH2: true,
    connections: 1,
    pipelining: 100, // undici's number of streams on a connection
    headersTimeout: 90_000,
    bodyTimeout: 90_000,
    connect: {
      ca: fs.readFileSync(options.ca),
      servername: options.host,
      lookup: (name, how, done) => how.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
    },
  });
  const random = randomFrom(options.seed);
  const told = { requests: 0, left: 0, correct: 0, wrong: 0, failed: 0, statuses: {}, problems: {}, samples: [] };
  const count = (map, key) => { map[key] = (map[key] ?? 0) + 1; };
  const sample = text => { if (told.samples.length < 20) told.samples.push(text); };
  let next = 0;

  async function small(agent) {
    const id = `s${next++}-${Math.floor(random() * 1e9)}`;
    const post = random() < options.posts;
    const body = post ? `${id};`.repeat(1 + Math.floor(random() * 100)) : '';
    told.requests++;
    try {
      const answer = await request(`${origin}/small/${id}`, { dispatcher: agent, method: post ? 'POST' : 'GET', body: post ? body : null });
      const text = await answer.body.text();
      count(told.statuses, answer.statusCode);
      if (answer.statusCode !== 200) {
        let kind = 'not a problem document';
        try {
          kind = JSON.parse(text).type.replace('urn:culvert:problem:', '');
        } catch { /* told as it is */ }
        count(told.problems, `${answer.statusCode} ${kind}`);
        sample(`${post ? 'POST' : 'GET'} ${id}: ${answer.statusCode} ${text.slice(0, 300)}`);
        return;
      }
      const expected = JSON.stringify({ id, method: post ? 'POST' : 'GET', body });
      if (text === expected && answer.headers['x-id'] === id) {
        told.correct++;
      } else {
        told.wrong++;
        sample(`${id}: WRONG ANSWER x-id=${answer.headers['x-id']} ${text.slice(0, 200)}`);
      }
    } catch (e) {
      told.failed++;
      count(told.problems, `${e.code ?? e.name}: ${String(e.message).slice(0, 100)}`);
      sample(`${id}: ${e.stack?.slice(0, 300)}`);
    }
  }

  /** Reads some bytes of a large download and leaves it. */
  async function leave(agent) {
    const id = `d${next++}`;
    const leaving = new AbortController();
    const wanted = Math.floor(random() * options.read);
    const bytes = piece(id);
    let read = 0;
    try {
      const answer = await request(`${origin}/large/${id}?mib=${options.mib}`, { dispatcher: agent, signal: leaving.signal });
      if (answer.statusCode !== 200) {
        const text = await answer.body.text();
        count(told.problems, `download ${answer.statusCode}`);
        count(told.statuses, answer.statusCode);
        sample(`download ${id}: ${answer.statusCode} ${text.slice(0, 300)}`);
        return;
      }
      for await (const data of answer.body) {
        for (let at = 0; at < data.length;) {
          const offset = (read + at) % PIECE;
          const length = Math.min(data.length - at, PIECE - offset);
          if (data.compare(bytes, offset, offset + length, at, at + length) !== 0) {
            told.wrong++;
            sample(`download ${id}: WRONG BYTES after ${read + at}: ${data.toString('latin1', at, at + 100)}`);
            return;
          }
          at += length;
        }
        read += data.length;
        if (read >= wanted) break;
      }
      told.left++;
      leaving.abort();
    } catch (e) {
      if (e.name === 'AbortError') return;
      told.failed++;
      count(told.problems, `download ${e.code ?? e.name}: ${String(e.message).slice(0, 100)}`);
      sample(`download ${id}: ${e.stack?.slice(0, 300)}`);
    }
  }

  let rounds = options.downloads;
  const burst = Math.ceil(options.requests / options.downloads);
  async function lane() {
    const agent = connect();
    while (rounds > 0) {
      rounds--;
      await leave(agent);
      await Promise.all(Array.from({ length: Math.min(burst, options.requests - told.requests) }, () => small(agent)));
      if (random() < options.pauses) await new Promise(done => setTimeout(done, random() * 1500));
    }
  }
  const began = performance.now();
  const watch = setInterval(() => console.error(`${told.requests} requests, ${told.left} left, ${told.requests - told.correct} not answered rightly (or under way)`), 10_000);
  await Promise.all(Array.from({ length: options.lanes }, lane));
  clearInterval(watch);
  told.seconds = Math.round((performance.now() - began) / 100) / 10;
  console.log(JSON.stringify(told));
  process.exit(0);
}

if (process.argv[2] === 'serve') serve(Number(process.argv[3]));
else await call(JSON.parse(process.argv[3]));
