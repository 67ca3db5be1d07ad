package dev.culvert.inbox;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Reason;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import dev.culvert.edge.route.DurableMatch.DurableRoute;
import dev.culvert.edge.sqlite.StoreException;
import dev.culvert.inbox.SignatureCheck.Running;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A webhook that is being taken in: in memory while it is small, else into a file. Its sender is told that bytes were taken when
 * they are in the file, so that no more of them wait than it may send ahead. Of the request's loop.
 *
 * <pre>
 *  SMALL ──more than 64 KiB──► SPOOLING ──end──┐
 *    ├──────end────────────────────────────────┴► STORING ──► answered
 *    └──cancel, too large, disk full──► OVER
 * </pre>
 */
final class Upload implements RequestSink {
    private static final Logger log = LoggerFactory.getLogger(Upload.class);
    /** What stays in memory, and in a row. */
    static final int SMALL = 64 << 10;
    /** Of the head, about, and of what holds both. */
    private static final int OVERHEAD = 2 << 10;

    private final Inbox inbox;
    private final InboxRelay.Target target;
    private final DurableRoute route;
    private final RelayRequest request;
    private final ResponseSink response;
    private final String id;
    private final CallerAnswer answer;
    private final MessageDigest digest = WebhookDigests.sha256();
    private final @Nullable Running check;
    private final Budget.Held held;
    private final long most;
    private Budget.@Nullable Held spooled;
    private byte[] small;
    private int smallSize;
    private long total;
    private @Nullable SpoolWriter spool;
    private List<ByteBuf> unwritten = new ArrayList<>();
    private boolean writing;
    private boolean ended;
    private boolean over;

    /**
     * What an upload takes of the memory.
     *
     * @param length of its body; -1: unknown
     */
    static long memoryFor(long length) {
        return OVERHEAD + (length < 0 ? SMALL : Math.min(SMALL, length));
    }

    /** How long a body may be: one that fits into no quota is not begun. */
    static long most(Inbox inbox, DurableRoute route) {
        return Math.min(route.maxBodyBytes(), inbox.setup().config().maxSourceBytes().bytes());
    }

    /**
     * @param length of its body; -1: unknown
     * @param held {@link #memoryFor} it, given back at the end
     */
    Upload(Inbox inbox, InboxRelay.Target target, DurableRoute route, RelayRequest request,
            ResponseSink response,
            long length, Budget.Held held) {
        this.inbox = inbox;
        this.target = target;
        this.route = route;
        this.request = request;
        this.response = response;
        this.held = held;
        this.most = most(inbox, route);
        this.id = inbox.nextId();
        this.answer = new CallerAnswer(request.loop(), response, id);
        this.small = new byte[(int) (memoryFor(length) - OVERHEAD)];
        this.check = check();
    }

    private @Nullable Running check() {
        if (route.verify() == null) {
            return null;
        }
        List<byte[]> secrets = target.secrets().of(target.runtimeId(), route);
        return secrets == null
                ? null
                : new SignatureCheck(route.verify().provider(), secrets, inbox.setup().clock())
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
            inbox.meters().refused("size");
            refuse(InboxRelay.tooLarge(target.hop(), most));
        } else if (spool == null && total <= SMALL) {
            keep(body, bytes);
            response.consumed(bytes);
        } else if (isCounted(spool == null ? total : bytes)) {
            toSpool(body);
        } else {
            body.release();
            inbox.meters().refused("quota");
            refuse(InboxRelay.full(target.hop(),
                    "too many large webhooks of the runtime are being taken in"));
        }
    }

    /** Until its row is written no quota knows of the file. */
    private boolean isCounted(long bytes) {
        Budget.Held before = spooled;
        if (before != null) {
            return before.grow(bytes);
        }
        spooled = inbox.spooling().take(target.runtimeId(), bytes);
        return spooled != null;
    }

    private void uncount() {
        Budget.Held counted = spooled;
        if (counted != null) {
            counted.release();
        }
    }

    private void keep(ByteBuf body, int bytes) {
        if (smallSize + bytes > small.length) {
            small = Arrays.copyOf(small, SMALL); // more than its length said
        }
        body.readBytes(small, smallSize, bytes);
        body.release();
        smallSize += bytes;
    }

    private void toSpool(ByteBuf body) {
        if (spool == null) {
            spool = new SpoolWriter(inbox.spool(), id, digest, check);
            if (smallSize > 0) {
                unwritten.add(Unpooled.wrappedBuffer(small, 0, smallSize));
            }
        }
        unwritten.add(body);
        write();
    }

    /** Writes what waits, then tells its sender; at the end makes it durable. */
    private void write() {
        SpoolWriter to = spool;
        if (writing || over || to == null) {
            return;
        }
        List<ByteBuf> now = unwritten;
        boolean last = ended && now.isEmpty();
        if (now.isEmpty() && !last) {
            return;
        }
        unwritten = new ArrayList<>();
        writing = true;
        int bytes = now.stream().mapToInt(ByteBuf::readableBytes).sum();
        try {
            inbox.fileThreads().execute(() -> {
                try {
                    if (last) {
                        to.finish();
                    } else {
                        to.write(now);
                    }
                    request.loop().execute(() -> written(to, bytes, last));
                } catch (IOException failed) {
                    request.loop().execute(() -> unwritten(to, failed));
                }
            });
        } catch (RejectedExecutionException full) {
            now.forEach(ByteBuf::release);
            unwritten(to, new IOException("too many files are written at once", full));
        }
    }

    private void written(SpoolWriter to, int bytes, boolean last) {
        writing = false;
        if (over) {
            abort(to);
        } else if (last) {
            store(null, to);
        } else {
            response.consumed(sentBytes(bytes));
            write();
        }
    }

    /** What was kept in memory first was told before. */
    private int sentBytes(int bytes) {
        int told = smallSize;
        smallSize = 0;
        return bytes - told;
    }

    private void unwritten(SpoolWriter to, IOException failed) {
        writing = false;
        abort(to);
        if (!over) {
            log.atWarn().addKeyValue("reason", Reason.of(failed)).log("large webhook not stored");
            inbox.meters().refused("disk");
            refuse(InboxRelay.full(target.hop(), "the webhook can't be stored now"));
        }
    }

    private void abort(SpoolWriter to) {
        try {
            inbox.fileThreads().execute(to::abort);
        } catch (RejectedExecutionException stopping) {
            // The next start removes it.
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (over || ended) {
            return;
        }
        ended = true;
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
            inbox.meters().refused("signature");
            refuse(Problem.of(Cause.BAD_SIGNATURE, target.hop(),
                    "the webhook's signature is missing or wrong"));
            return;
        }
        if (written != null) {
            held.shrink(OVERHEAD);
        }
        Http2Headers fields = request.fields();
        String path = String.valueOf(fields.path());
        var content = new Content(StoredFields.encode(fields), body, written == null ? null : written.file(),
                total, held);
        over = true;
        var draft = new Draft(id, target.runtimeId(), route, String.valueOf(fields.method()),
                String.valueOf(fields.authority()), path,
                new Fingerprint(target.runtimeId(), path, WebhookDigests.providerId(fields), digest.digest()),
                content, answer, request.loop());
        inbox.store(draft, receipt -> stored(receipt, content, written),
                failed -> notStored(failed, content, written));
    }

    private void stored(Receipt receipt, Content content, @Nullable SpoolWriter written) {
        uncount();
        long wait = inbox.setup().config().answerWithin().toMillis();
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

    private void notStored(StoreException failed, Content content, @Nullable SpoolWriter written) {
        uncount();
        content.release();
        if (written != null) {
            abort(written);
        }
        inbox.meters().refused(failed instanceof StoreException.Full ? "quota" : "disk");
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
        held.release();
        uncount();
        unwritten.forEach(ByteBuf::release);
        unwritten.clear();
        SpoolWriter to = spool;
        if (to != null && !writing) {
            abort(to);
        }
    }

    /** What is being stored already stays: its caller may think that it arrived. */
    @Override
    public void cancel(Problem reason) {
        answer.gone();
        if (!over) {
            drop();
        }
    }

    @Override
    public void consumed(int bytes) {}
}
