package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session.Role;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One end of a {@link SessionPair}: a session, its application and the link to the peer. */
final class Side {
    final Session session;
    final Link out = new Link();
    final Map<Integer, StreamLog> streams = new TreeMap<>();
    /** Everything but DATA and Sent, in order. */
    final List<SessionEvent> events = new ArrayList<>();
    /** What the application does beyond reading. */
    Consumer<SessionEvent> onEvent = event -> {};
    /** Sees each batch that is put on the link; borrows it. */
    Consumer<ByteBuf> tap = batch -> {};
    /** New streams start with a reader that reads nothing. */
    boolean stallsAll;

    private final Role role;
    private final ByteBufAllocator allocator;

    Side(Role role, Session session, ByteBufAllocator allocator) {
        this.role = role;
        this.session = session;
        this.allocator = allocator;
    }

    // ---- commands ----

    /** Opens a stream with a head that has the given path. */
    int open(String path, boolean ended) {
        return open(request(path), ended);
    }

    int open(Http2Headers head, boolean ended) {
        return session.open(StreamKind.HTTP, head, HeadOptions.NONE, ended);
    }

    void respond(int id, int status, boolean ended) {
        boolean informational = status < 200 && status != 101;
        session.respond(id, response(status), HeadOptions.NONE, informational, ended);
    }

    void write(int id, int bytes) {
        session.data(id, log(id).next(allocator, role, bytes));
    }

    void end(int id) {
        session.end(id, null);
    }

    /** Whatever arrives on the stream stays unread. */
    void stall(int id) {
        log(id).stalled = true;
    }

    /** Reads what has been held back, and all that comes. */
    void resume(int id) {
        StreamLog log = log(id);
        log.stalled = false;
        read(log, log.heldBytes);
    }

    /** Reads {@code bytes} of what has been held back. */
    void read(StreamLog log, int bytes) {
        log.heldBytes -= bytes;
        session.consumed(log.id, bytes);
    }

    StreamLog log(int id) {
        return streams.computeIfAbsent(id, StreamLog::new);
    }

    static Http2Headers request(String path) {
        return new DefaultHttp2Headers().method("GET").scheme("https").authority("a.b").path(path);
    }

    static Http2Headers response(int status) {
        return new DefaultHttp2Headers().status(Integer.toString(status));
    }

    static Http2Headers trailers(String value) {
        return new DefaultHttp2Headers().add("checksum", value);
    }

    // ---- the driver's part ----

    /** Takes what has arrived from {@code from}. Returns whether anything had. */
    boolean receive(Link from, long nowNanos) {
        ByteBuf batch = from.receive(nowNanos);
        if (batch == null) {
            return false;
        }
        for (; batch != null; batch = from.receive(nowNanos)) {
            accept(batch, nowNanos);
        }
        return true;
    }

    /** Handles a batch as the driver does. Takes ownership of it. */
    void accept(ByteBuf batch, long nowNanos) {
        session.received();
        try {
            while (batch.isReadable() && !session.isClosed()) {
                session.handle(FrameCodec.decode(batch), nowNanos);
                drainEvents();
            }
        } catch (ProtocolException e) {
            session.fail(e);
        } finally {
            batch.release();
        }
        drainEvents();
    }

    /** Sends one batch if the socket takes it. Returns whether it did. */
    boolean send(long nowNanos) {
        drainEvents();
        if (!session.hasFrames() || !out.isWritable(nowNanos)) {
            return false;
        }
        ByteBuf batch = poll();
        drainEvents();
        if (batch == null) {
            return false;
        }
        tap.accept(batch);
        out.send(batch, nowNanos);
        return true;
    }

    /** Returns the next batch, which the caller owns, or null. */
    @Nullable
    ByteBuf poll() {
        ByteBuf batch = allocator.heapBuffer(session.batchBytes(), FrameCodec.MAX_BATCH);
        while (session.pollFrame(batch)) {
            // until nothing waits or nothing more fits
        }
        if (!batch.isReadable()) {
            batch.release();
            return null;
        }
        return batch;
    }

    void drainEvents() {
        for (SessionEvent event = session.pollEvent(); event != null; event = session.pollEvent()) {
            record(event);
            onEvent.accept(event);
        }
    }

    /** The same, without a look at bodies, which are no pattern of the fixture: they stay unread. */
    void drainUnread() {
        for (SessionEvent event = session.pollEvent(); event != null; event = session.pollEvent()) {
            if (event instanceof SessionEvent.Data data) {
                data.body().release();
            } else {
                record(event);
            }
        }
    }

    private void record(SessionEvent event) {
        switch (event) {
            case SessionEvent.Data e -> data(e);
            case SessionEvent.Sent e -> log(e.streamId()).sentBytes += e.bytes();
            case SessionEvent.Opened e -> {
                log(e.streamId()).stalled = stallsAll;
                log(e.streamId()).heads.add(e.head());
                log(e.streamId()).ended = e.ended();
            }
            case SessionEvent.ResponseHead e -> {
                log(e.streamId()).heads.add(e.head());
                log(e.streamId()).ended = e.ended();
            }
            case SessionEvent.Trailers e -> {
                log(e.streamId()).trailers = e.trailers();
                log(e.streamId()).ended = true;
            }
            case SessionEvent.StreamClosed e -> {
                assertThat(log(e.streamId()).isOver()).isFalse();
                log(e.streamId()).closed = true;
            }
            case SessionEvent.StreamReset e -> {
                assertThat(log(e.streamId()).isOver()).isFalse();
                log(e.streamId()).reset = e;
            }
            case SessionEvent.PeerHello e -> {
            }
            case SessionEvent.ProofWanted e -> {
            }
            case SessionEvent.Auth e -> {
            }
            case SessionEvent.Announced e -> {
            }
            case SessionEvent.AuthAnswer e -> {
            }
            case SessionEvent.Live e -> {
            }
            case SessionEvent.Waiting e -> {
            }
            case SessionEvent.Leaving e -> {
            }
            case SessionEvent.GoingAway e -> {
            }
            case SessionEvent.Closed e -> {
            }
        }
        if (!(event instanceof SessionEvent.Data) && !(event instanceof SessionEvent.Sent)) {
            events.add(event);
        }
    }

    private void data(SessionEvent.Data event) {
        StreamLog log = log(event.streamId());
        log.arrived(role == Role.SERVER ? Role.CLIENT : Role.SERVER, event.body());
        event.body().release();
        log.ended = event.last();
        if (!log.stalled) {
            read(log, log.heldBytes);
        }
    }

    /** The last event of a kind, which must be there. */
    <E extends SessionEvent> E last(Class<E> kind) {
        List<E> found = events.stream().filter(kind::isInstance).map(kind::cast).toList();
        assertThat(found).as("events of %s in %s", kind.getSimpleName(), events).isNotEmpty();
        return found.getLast();
    }

    long count(Class<? extends SessionEvent> kind) {
        return events.stream().filter(kind::isInstance).count();
    }
}
