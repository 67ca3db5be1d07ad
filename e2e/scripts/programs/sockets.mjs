// sockets.mjs MODULES serve CERTIFICATE KEY | call URL: socket.io's server, and its client with each transport. The client
// prints its points as JSON.
import https from 'node:https';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import fs from 'node:fs';

const [, , modules, role, ...more] = process.argv;
const load = createRequire(modules + '/');
const sum = data => createHash('sha256').update(data).digest('hex');
const bytes = Buffer.alloc(700_000, 'binary ');

function serve() {
  const server = https.createServer({ cert: fs.readFileSync(more[0]), key: fs.readFileSync(more[1]) });
  const io = new (load('socket.io').Server)(server, { maxHttpBufferSize: 2 << 20, pingInterval: 1000, pingTimeout: 3000 });
  io.on('connection', socket => {
    socket.on('echo', (value, done) => done(value));
    socket.on('sum', (data, done) => done(data.length, sum(data)));
    socket.on('count', (count, done) => {
      for (let i = 0; i < count; i++) socket.emit('number', i);
      done(count);
    });
    socket.on('transport', done => done(socket.conn.transport.name));
    socket.on('leave', () => socket.disconnect(true));
    socket.join('room');
    socket.on('say', text => io.to('room').emit('said', text));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  process.on('SIGTERM', () => process.exit(0));
}

async function one(transports) {
  const { io } = load('socket.io-client');
  const socket = io(more[0], { transports, forceNew: true, reconnection: false, timeout: 10_000 });
  const points = {};
  const once = name => new Promise(done => socket.once(name, done));
  const ask = (...words) => socket.timeout(15_000).emitWithAck(...words);
  const numbers = [];
  let pings = 0;
  socket.io.on('ping', () => pings++);
  socket.on('number', number => numbers.push(number));
  await new Promise((done, fail) => { socket.once('connect', done); socket.once('connect_error', fail); });
  const { engine } = socket.io;
  if (transports.length === 2 && engine.transport.name !== 'websocket') await new Promise(done => engine.once('upgrade', done));
  points.transport = await ask('transport');
  points['text echoed'] = await ask('echo', { text: 'ä€', list: [1, null, true] });
  points['700 KB binary'] = await new Promise(done => socket.emit('sum', bytes, (length, told) => done([length, told === sum(bytes)])));
  await ask('count', 500);
  points['500 events in order'] = numbers.length === 500 && numbers.every((n, i) => n === i);
  const said = once('said');
  socket.emit('say', 'to all');
  points.room = await said;
  await new Promise(done => setTimeout(done, 2500)); // two heartbeats
  points['kept by heartbeats'] = pings >= 2 && socket.connected;
  const gone = once('disconnect');
  socket.emit('leave');
  points['server disconnects'] = await gone;
  socket.close();
  return points;
}

if (role === 'serve') {
  serve();
} else {
  const points = {};
  for (const [name, transports] of Object.entries({ polling: ['polling'], websocket: ['websocket'], upgraded: ['polling', 'websocket'] })) {
    for (const [point, value] of Object.entries(await one(transports))) points[`${name}: ${point}`] = value;
  }
  console.log(JSON.stringify(points));
  process.exit(0);
}
