// grpc.mjs MODULES serve CERTIFICATE KEY | call HOST:PORT CA: a server and a client of grpc-js. The client prints its points
// as JSON.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import fs from 'node:fs';

const [, , modules, role, ...more] = process.argv;
const load = createRequire(modules + '/');
const grpc = load('@grpc/grpc-js');
const proto = load('@grpc/proto-loader').loadSync(fileURLToPath(new URL('probe.proto', import.meta.url)));
const { Probe } = grpc.loadPackageDefinition(proto).interop;
const LARGE = 3 << 20;

function serve() {
  let cancelled = 0;
  const server = new grpc.Server();
  server.addService(Probe.service, {
    unary(call, done) {
      const text = call.request.text.toString('latin1', 0, 20);
      if (text.startsWith('fail ')) {
        const trailers = new grpc.Metadata();
        trailers.set('x-detail-bin', Buffer.from([0, 1, 254, 255]));
        return done({ code: Number(text.split(' ')[1]), details: 'refused: ä "quoted" 100%', metadata: trailers });
      }
      const head = new grpc.Metadata();
      head.set('x-saw', String(call.metadata.get('x-sent')));
      head.set('x-saw-bin', call.metadata.get('x-sent-bin')[0] ?? Buffer.of(9));
      call.sendMetadata(head);
      const trailers = new grpc.Metadata();
      trailers.set('x-trailer', 'end');
      done(null, { text: call.request.text }, trailers);
    },
    async down(call) {
      for (let i = 0; i < call.request.count; i++) if (!call.write({ text: Buffer.from(`message ${i}`) })) await new Promise(go => call.once('drain', go));
      call.end();
    },
    up(call, done) {
      let count = 0;
      call.on('data', () => count++);
      call.on('end', () => done(null, { count }));
    },
    both(call) {
      call.on('data', message => call.write(message));
      call.on('end', () => call.end());
    },
    never(call) {
      call.on('cancelled', () => cancelled++);
    },
    async seen(call, done) {
      for (let i = 0; i < 100 && cancelled < call.request.count; i++) await new Promise(go => setTimeout(go, 50));
      done(null, { count: cancelled });
      cancelled = 0;
    },
    absent: undefined,
  });
  const credentials = grpc.ServerCredentials.createSsl(null, [{ cert_chain: fs.readFileSync(more[0]), private_key: fs.readFileSync(more[1]) }]);
  server.bindAsync('127.0.0.1:0', credentials, (e, port) => console.log(port));
  process.on('SIGTERM', () => process.exit(0));
}

async function call() {
  const points = {};
  const [target, ca] = more;
  const credentials = grpc.credentials.createSsl(fs.readFileSync(ca));
  const client = new Probe(target, credentials);
  const zipped = new Probe(target, credentials, { 'grpc.default_compression_algorithm': 2 });
  const within = seconds => ({ deadline: Date.now() + seconds * 1000 });
  const unary = (who, text, options = within(20), sent = new grpc.Metadata()) => new Promise(done => {
    const told = {};
    const asked = who.unary({ text }, sent, options, (e, value) => { told.code = e?.code ?? 0; told.details = e?.details; told.bytes = value?.text.length; told.equal = value && Buffer.from(text).equals(value.text); });
    asked.on('metadata', head => { told.head = [head.get('x-saw'), head.get('x-saw-bin').map(b => b.toString('hex'))]; });
    asked.on('status', status => setImmediate(() => done({ ...told, trailer: [status.metadata.get('x-trailer'), status.metadata.get('x-detail-bin').map(b => b.toString('hex'))] })));
  });
  const sent = new grpc.Metadata();
  sent.set('x-sent', 'a value');
  sent.set('x-sent-bin', Buffer.from([0, 127, 255]));
  points['unary, metadata both ways'] = await unary(client, Buffer.from('hello'), within(20), sent);
  points['unary, empty message'] = await unary(client, Buffer.alloc(0));
  points['unary, 3 MiB'] = await unary(client, Buffer.alloc(LARGE, 'large '));
  points['unary, 3 MiB, gzip'] = await unary(zipped, Buffer.alloc(LARGE, 'large '));
  points['200 unary at once'] = (await Promise.all(Array.from({ length: 200 }, (_, i) => unary(client, Buffer.from(`number ${i}`))))).filter(told => told.code === 0 && told.equal).length;
  for (const code of [3, 5, 7, 8, 14, 16]) points[`error ${code}, details, binary trailer`] = await unary(client, Buffer.from(`fail ${code}`));
  points['server streaming, 5,000 messages'] = await new Promise(done => {
    let count = 0, ordered = true, code;
    client.down({ count: 5000 }, within(30)).on('data', m => { ordered &&= m.text.toString() === `message ${count}`; count++; })
      .on('error', e => { code = e.code; }).on('status', s => done([count, ordered, code ?? s.code]));
  });
  points['client streaming, 5,000 messages'] = await new Promise(done => {
    const asked = client.up(within(30), (e, value) => done([e?.code ?? 0, value?.count]));
    (async () => {
      for (let i = 0; i < 5000; i++) if (!asked.write({ text: Buffer.from('m'.repeat(100)) })) await new Promise(go => asked.once('drain', go));
      asked.end();
    })();
  });
  points['both ways, 500 turns'] = await new Promise(done => {
    const asked = client.both(within(30));
    let turns = 0;
    asked.on('data', () => ++turns < 500 ? asked.write({ text: Buffer.from(`turn ${turns}`) }) : asked.end());
    asked.on('error', () => {}).on('status', s => done([turns, s.code]));
    asked.write({ text: Buffer.from('turn 0') });
  });
  points['deadline of 0.3 s'] = await new Promise(done => client.never({}, within(0.3), e => done(e.code)));
  points['the server sees the deadline'] = await new Promise(done => client.seen({ count: 1 }, (e, value) => done(value?.count)));
  points['cancelled'] = await new Promise(done => {
    const asked = client.never({}, e => done(e.code));
    setTimeout(() => asked.cancel(), 200);
  });
  points['the server sees the cancel'] = await new Promise(done => client.seen({ count: 1 }, (e, value) => done(value?.count)));
  points['a method that is not there'] = await new Promise(done => client.absent({}, within(10), e => done([e.code])));
  points['after all: unary'] = (await unary(client, Buffer.from('again'))).code;
  console.log(JSON.stringify(points));
  process.exit(0);
}

if (role === 'serve') serve();
else await call();
