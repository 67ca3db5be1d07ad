package dev.culvert.inbox.intake;

import dev.culvert.config.Reason;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.intake.Intakes.Intake;
import dev.culvert.inbox.intake.SignatureCheck.Running;
import dev.culvert.inbox.intake.StoreTurns.Turn;
import dev.culvert.inbox.model.Budget;
import dev.culvert.inbox.model.Fingerprint;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.inbox.model.Receipt;
import dev.culvert.inbox.model.StoredFields;
import dev.culvert.inbox.model.WebhookBody;
import dev.culvert.inbox.model.WebhookDigests;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import dev.culvert.store.StoreException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A webhook that is being received: in memory while it is small, else into a file. Its cost is the bytes that
 * arrived, whatever length was announced, and it must arrive in time. Bytes are reported as consumed when
 * they are in the file, so the sender's window bounds the waiting bytes. Belongs to the request's loop.
 * One class, because every step may fail or be displaced, and must then release what all earlier steps took.
 *
 * <pre>
 *  SMALL ──more than 64 KiB──► SPOOLING ──end──┐
 *    ├──────end────────────────────────────────┴► WAITING ──its turn──► STORING ──► answered
 *    │                                              └──gives way──► OVER
 *    └──cancel, too large, too late, gives way, disk full──► OVER
 * </pre>
 */
final class Upload implements RequestSink {
    private static final Logger log = LoggerFactory.getLogger(Upload.class);
    /** The maximum length of a body that stays in memory, and in a row. */
    static final int SMALL = 64 << 10;
    /** The approximate memory of one upload's objects, and of each field of its head. */
    private static final int OVERHEAD = 2 << 10;
    private static final int FIELD = 64;
    private static final int FIRST_BUFFER = 1 << 10;
    private static final byte[] NOTHING = {};

    private final WebhookIntake inbox;
    private final InboxRelay.Target target;
    private final DurableRoute route;
    private final RelayRequest request;
    private final ResponseSink response;
    private final String id;
    private final CallerAnswer answer;
    private final MessageDigest digest = WebhookDigests.sha256();
    private final @Nullable Running check;
    private final Intake intake;
    /** The memory of the head and of the objects that hold it and the body. */
    private final long headCost;
    private final long announced;
    private final long most;
    private final IntakeTimeout patience = new IntakeTimeout();
    private @Nullable Future<?> timer;
    private byte[] small = NOTHING;
    private int smallSize;
    private long total;
    private @Nullable SpoolWriter spool;
    /** The bytes kept in memory before there was a file. */
    private @Nullable ByteBuf first;
    private final UnwrittenParts unwritten = new UnwrittenParts();
    private boolean writing;
    private boolean ended;
    /** The turn to be stored; null until the body has arrived. */
    private @Nullable Turn turn;
    private boolean over;

    /** Returns the maximum length of a body. A body that exceeds every quota is not begun. */
    static long most(WebhookIntake inbox, DurableRoute route) {
        return Math.min(route.maxBodyBytes(), inbox.setup.config().maxSourceBytes().bytes());
    }

    /** Returns the memory of a head and of the objects that hold it. */
    static long headCost(Http2Headers fields) {
        long cost = OVERHEAD;
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            cost += FIELD + field.getKey().length() + field.getValue().length();
        }
        return cost;
    }

    /**
     * Begins to receive a webhook. Returns null if there is no room for it.
     *
     * @param source the sender's source address
     * @param announced the announced length of its body; -1: unknown
     */
    static @Nullable Upload open(WebhookIntake inbox, InboxRelay.Target target, DurableRoute route,
            RelayRequest request, ResponseSink response, SourceAddress source, long announced) {
        long headCost = headCost(request.fields());
        var way = new WayOut(request.loop());
        Intake intake = inbox.arriving.open(target.runtimeId(), source, headCost, way);
        if (intake == null) {
            return null;
        }
        var upload = new Upload(inbox, target, route, request, response, intake, headCost, announced);
        way.upload = upload;
        if (!request.ended()) {
            upload.await(IntakeTimeout.SHORT);
        }
        return upload;
    }

    /** Ends an upload for another source's. Any thread. */
    private static final class WayOut implements Runnable {
        private final EventLoop loop;
        private @Nullable Upload upload;

        WayOut(EventLoop loop) {
            this.loop = loop;
        }

        @Override
        public void run() {
            try {
                loop.execute(() -> {
                    Upload leaving = upload;
                    if (leaving != null) {
                        leaving.giveWay();
                    }
                });
            } catch (RejectedExecutionException ended) {
                // The loop has ended, and with it the caller's connection.
            }
        }
    }

    private Upload(WebhookIntake inbox, InboxRelay.Target target, DurableRoute route, RelayRequest request,
            ResponseSink response, Intake intake, long headCost, long announced) {
        this.inbox = inbox;
        this.target = target;
        this.route = route;
        this.request = request;
        this.response = response;
        this.intake = intake;
        this.headCost = headCost;
        this.announced = announced;
        this.most = most(inbox, route);
        this.id = inbox.nextId();
        this.answer = new CallerAnswer(request.loop(), response, id);
        this.check = check();
    }

    private void await(long nanos) {
        timer = request.loop().schedule(this::look, nanos, TimeUnit.NANOSECONDS);
    }

    private void look() {
        if (over || ended) {
            return;
        }
        long more = patience.more(total, writing, intake.isCrowded());
        if (more > 0) {
            await(more);
            return;
        }
        inbox.meters.refused("late");
        refuse(Problem.of(Cause.REQUEST_TIMEOUT, target.hop(), "the webhook did not arrive in time"));
    }

    private void giveWay() {
        if (!over && (!ended || turn != null)) {
            noRoom();
        }
    }

    private void noRoom() {
        inbox.meters.refused("memory");
        refuse(InboxRelay.busy(target.hop()));
    }

    private @Nullable Running check() {
        if (route.verify() == null) {
            return null;
        }
        List<byte[]> secrets = target.secrets().of(target.runtimeId(), route);
        return secrets == null
                ? null
                : new SignatureCheck(route.verify().provider(), secrets, inbox.setup.clock())
                        .begin(request.fields());
    }

    @Override
    public void data(ByteBuf body) {
        int bytes = body.readableBytes();
        total += bytes;
        if (over || ended) {
            body.release();
            response.consumed(bytes);
        } else if (total > most) {
            body.release();
            inbox.meters.refused("size");
            refuse(InboxRelay.tooLarge(target.hop(), most));
        } else if (spool == null && total <= SMALL) {
            if (keep(body, bytes)) {
                response.consumed(bytes);
            } else {
                noRoom();
            }
        } else if (!inbox.room.take(spool == null ? total : bytes)) {
            body.release();
            inbox.meters.refused("disk");
            refuse(InboxRelay.full(target.hop(), inbox.room.reason()));
        } else if (!intake.growFile(spool == null ? total : bytes)) {
            body.release();
            inbox.meters.refused("quota");
            refuse(InboxRelay.full(target.hop(),
                    "too many large webhooks of the runtime are being received"));
        } else {
            toSpool(body);
        }
    }

    /** Keeps bytes in memory. Returns false if there is no room for them. */
    private boolean keep(ByteBuf body, int bytes) {
        try {
            int needed = smallSize + bytes;
            if (needed > small.length) {
                int size = capacity(needed);
                if (!intake.grow(size - small.length)) {
                    return false;
                }
                small = Arrays.copyOf(small, size);
            }
            body.readBytes(small, smallSize, bytes);
            smallSize = needed;
            return true;
        } finally {
            body.release();
        }
    }

    /**
     * Returns the new capacity. It doubles, so that copying costs little, but does not exceed the announced
     * length while that is valid.
     */
    private int capacity(int needed) {
        int size = Math.clamp(Math.max(FIRST_BUFFER, 2L * small.length), needed, SMALL);
        return announced >= needed && announced < size ? (int) announced : size;
    }

    private void toSpool(ByteBuf body) {
        if (!intake.grow(unwritten.costOf(body.readableBytes()))) {
            body.release();
            noRoom();
            return;
        }
        if (spool == null) {
            spool = new SpoolWriter(inbox.spool, id, digest, check);
            if (smallSize > 0) {
                first = Unpooled.wrappedBuffer(small, 0, smallSize);
            }
        }
        unwritten.add(body);
        write();
    }

    /** Writes the waiting parts, then reports them to the sender. At the end it makes the file durable. */
    private void write() {
        SpoolWriter to = spool;
        if (writing || over || to == null) {
            return;
        }
        boolean last = ended && unwritten.isEmpty();
        if (unwritten.isEmpty() && !last) {
            return;
        }
        long cost = unwritten.cost();
        List<ByteBuf> now = unwritten.take();
        int told = 0;
        ByteBuf kept = first;
        if (kept != null) {
            first = null;
            now.addFirst(kept);
            told = smallSize;
            cost += small.length;
            small = NOTHING;
            smallSize = 0;
        }
        writing = true;
        int bytes = now.stream().mapToInt(ByteBuf::readableBytes).sum() - told;
        long free = cost;
        try {
            inbox.fileThread.execute(() -> {
                try {
                    if (last) {
                        to.finish();
                    } else {
                        to.write(now);
                    }
                    request.loop().execute(() -> written(to, new Written(bytes, free), last));
                } catch (IOException failed) {
                    request.loop().execute(() -> unwritten(to, failed));
                }
            });
        } catch (RejectedExecutionException full) {
            now.forEach(ByteBuf::release);
            unwritten(to, new IOException("too many files are written at once", full));
        }
    }

    /**
     * The result of a write.
     *
     * @param bytes the written bytes that were not reported to the sender yet
     * @param cost the freed memory
     */
    private record Written(int bytes, long cost) {}

    private void written(SpoolWriter to, Written what, boolean last) {
        writing = false;
        if (over) {
            abort(to);
        } else if (last) {
            store(null, to);
        } else {
            intake.shrink(what.cost);
            response.consumed(what.bytes);
            write();
        }
    }

    private void unwritten(SpoolWriter to, IOException failed) {
        writing = false;
        abort(to);
        if (!over) {
            log.atWarn().addKeyValue("reason", Reason.of(failed)).log("large webhook not stored");
            inbox.meters.refused("disk");
            refuse(InboxRelay.full(target.hop(), "the webhook can't be stored now"));
        }
    }

    private void abort(SpoolWriter to) {
        try {
            inbox.fileThread.execute(to::abort);
        } catch (RejectedExecutionException stopping) {
            // The next start removes the file.
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (over || ended) {
            return;
        }
        ended = true;
        Future<?> waiting = timer;
        if (waiting != null) {
            waiting.cancel(false);
        }
        if (spool != null) {
            write();
            return;
        }
        ByteBuffer body = ByteBuffer.wrap(small, 0, smallSize);
        digest.update(body.duplicate());
        if (check != null) {
            check.update(body);
        }
        store(smallSize == small.length ? small : Arrays.copyOf(small, smallSize), null);
    }

    private void store(byte @Nullable [] body, @Nullable SpoolWriter written) {
        if (check != null && !check.matches()) {
            inbox.meters.refused("signature");
            refuse(Problem.of(Cause.BAD_SIGNATURE, target.hop(),
                    "the webhook's signature is missing or wrong"));
            return;
        }
        long cost = headCost + (body == null ? 0 : body.length);
        turn = inbox.turns.enter(intake.source(), cost, mine -> {
            if (turn == null && request.loop().inEventLoop()) { // otherwise it began while another turn ended
                store(body, written, cost, mine);
                return;
            }
            try {
                request.loop().execute(() -> store(body, written, cost, mine));
            } catch (RejectedExecutionException stopping) {
                mine.end();
            }
        });
    }

    /** Runs when its turn begins. */
    private void store(byte @Nullable [] body, @Nullable SpoolWriter written, long cost, Turn mine) {
        Budget.Held held = over ? null : inbox.arrived.take(target.runtimeId(), cost);
        if (held == null) {
            mine.end();
            if (!over) {
                noRoom();
            }
            return;
        }
        intake.arrived();
        Http2Headers fields = request.fields();
        String path = String.valueOf(fields.path());
        var content = new WebhookBody(StoredFields.encode(fields), body,
                written == null ? null : written.file(),
                total, held);
        over = true;
        String provider = WebhookDigests.providerId(fields);
        var draft = new IncomingWebhook(id, target.runtimeId(), route, String.valueOf(fields.method()),
                String.valueOf(fields.authority()), path, intake.source(),
                new Fingerprint(target.runtimeId(), path, provider,
                        check == null ? provider : check.key(provider), digest.digest()),
                content, answer, request.loop());
        inbox.store(draft, mine, receipt -> stored(receipt, content, written),
                failed -> notStored(failed, content, written));
    }

    private void stored(Receipt receipt, WebhookBody content, @Nullable SpoolWriter written) {
        intake.close();
        long wait = inbox.setup.config().answerWithin().toMillis();
        switch (receipt) {
            case Receipt.Stored stored -> answer.stored(id, wait);
            case Receipt.Duplicate first -> {
                content.release();
                if (written != null) {
                    abort(written);
                }
                answer.stored(first.id(), wait);
            }
        }
    }

    private void notStored(StoreException failed, WebhookBody content, @Nullable SpoolWriter written) {
        intake.close();
        content.release();
        if (written != null) {
            abort(written);
        }
        inbox.meters.refused(failed instanceof StoreException.Full ? "quota" : "disk");
        if (failed instanceof StoreException.Failed) {
            log.atWarn().addKeyValue("reason", failed.getMessage()).log("webhook not stored");
        }
        answer.refuse(InboxRelay.full(target.hop(), failed instanceof StoreException.Full full
                ? String.valueOf(full.getMessage())
                : "the webhook can't be stored now"));
    }

    private void refuse(Problem problem) {
        drop();
        answer.refuse(problem);
    }

    private void drop() {
        over = true;
        Future<?> waiting = timer;
        if (waiting != null) {
            waiting.cancel(false);
        }
        intake.close();
        Turn mine = turn;
        if (mine != null) {
            mine.end();
        }
        unwritten.release();
        small = NOTHING;
        SpoolWriter to = spool;
        if (to != null && !writing) {
            abort(to);
        }
    }

    /**
     * Drops the upload. A webhook that is already being stored stays, because its caller may assume that it
     * arrived.
     */
    @Override
    public void cancel(Problem reason) {
        answer.gone();
        if (!over && turn == null) {
            drop();
        }
    }

    @Override
    public void consumed(int bytes) {}
}
