// web.mjs MODULES CERTIFICATE KEY: an HTTPS server (HTTP/1.1 and HTTP/2) for curl and for browsers. Prints its port, then
// what pages report, a line each.
import http2 from 'node:http2';
import zlib from 'node:zlib';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import fs from 'node:fs';

const { WebSocketServer } = createRequire(process.argv[2] + '/')('ws');
const page = fs.readFileSync(new URL('page.html', import.meta.url));
// They belong to a connection, not to a request.
const HOP = ['connection', 'keep-alive', 'transfer-encoding', 'te', 'upgrade', 'http2-settings'];

function whole(request) {
  return new Promise((done, failed) => {
    const pieces = [];
    request.on('data', data => pieces.push(data));
    request.on('end', () => done(Buffer.concat(pieces)));
    request.on('error', failed);
  });
}

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));
const json = (response, value, status = 200) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

const ANSWERS = {
  page: (request, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page),
  async echo(request, response) {
    const body = await whole(request);
    const fields = Object.entries(request.headers).filter(([name]) => !name.startsWith(':') && !HOP.includes(name));
    json(response, {
      method: request.method, target: request.url, host: request.headers.host ?? request.headers[':authority'],
      fields: Object.fromEntries(fields.filter(([name]) => name !== 'host')), bytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
    });
  },
  status: (request, response, [status]) => response.writeHead(Number(status)).end(),
  redirect: (request, response, [status]) => response.writeHead(Number(status), { location: '/web/echo/redirected' }).end(),
  async hints(request, response) {
    response.writeEarlyHints({ link: '</web/style.css>; rel=preload; as=style' });
    await pause(50);
    json(response, { hinted: true });
  },
  trailers(request, response) {
    response.writeHead(200, { trailer: 'x-sum, x-end' });
    response.write('a body with trailers');
    response.addTrailers({ 'x-sum': '17', 'x-end': 'yes' });
    response.end();
  },
  cookies(request, response) {
    response.writeHead(200, { 'set-cookie': ['a=1; Path=/web/', 'b=2; Path=/web/; Secure; HttpOnly', 'c=3; Max-Age=0'] });
    response.end(request.headers.cookie ?? 'none');
  },
  heads(request, response) {
    for (let i = 0; i < 40; i++) response.setHeader(`x-field-${i}`, 'v'.repeat(200));
    response.end('large head');
  },
  gzip(request, response) {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' });
    response.end(zlib.gzipSync('zipped '.repeat(20_000)));
  },
  async stream(request, response) {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (let i = 0; i < 5; i++) {
      response.write(`piece ${i}\n`);
      await pause(100);
    }
    response.end();
  },
  refuse: (request, response) => json(response, { refused: true }, 413),
  async events(request, response) {
    const after = Number(request.headers['last-event-id'] ?? 0);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 50\n\n');
    for (let i = after + 1; i <= after + 3; i++) {
      response.write(`id: ${i}\nevent: tick\ndata: {"n":${i}}\ndata: second line\n\n`);
      await pause(30);
    }
    response.end();
  },
  async report(request, response) {
    console.log((await whole(request)).toString());
    response.writeHead(204).end();
  },
};

const server = http2.createSecureServer({ cert: fs.readFileSync(process.argv[3]), key: fs.readFileSync(process.argv[4]), allowHTTP1: true });
server.on('request', (request, response) => {
  const [, , name, ...more] = request.url.split('?')[0].split('/');
  const answer = ANSWERS[name];
  request.on('error', () => {});
  response.on('error', () => {});
  if (!answer) return json(response, { none: name ?? '' }, 404);
  Promise.resolve(answer(request, response, more)).catch(e => response.destroy?.(e));
});
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true, handleProtocols: offered => offered.has('echo') ? 'echo' : false });
server.on('upgrade', (request, socket, head) => {
  socket.on('error', () => {});
  if (request.headers.upgrade.toLowerCase() !== 'websocket') {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ' + request.headers.upgrade + '\r\n\r\n');
    return;
  }
  sockets.handleUpgrade(request, socket, head, peer => {
    peer.on('message', (data, binary) => data.toString() === 'close' ? peer.close(4001, 'as asked') : peer.send(data, { binary }));
    peer.on('error', () => {});
  });
});
server.on('sessionError', () => {});
server.on('clientError', (e, socket) => socket.destroy());
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('SIGTERM', () => process.exit(0));
