package dev.culvert.benchmarks.micro;

import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures what the protocol costs at both ends: codec, heads, sessions and windows, without sockets, TLS and
 * WebSocket.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SessionBenchmark {
    private static final int SMALL = 200;
    private static final int BULK = 64 << 10;

    /** How heads are encoded. */
    @Param({"slots", "hpack"})
    public String heads = "slots";

    private SessionLink link = new SessionLink(0);
    private ByteBuf small = body(SMALL);
    private ByteBuf large = body(BULK);
    private int bulk;

    private static ByteBuf body(int bytes) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(bytes).writeZero(bytes);
    }

    /** Opens the sessions, and a stream whose upload never ends. */
    @Setup
    public void open() {
        link = new SessionLink(heads.equals("slots") ? Hello.SLOTS : 0);
        bulk = link.server.open(StreamKind.HTTP, request(), HeadOptions.NONE, false);
        SessionLink.carry(link.server, link.client);
        SessionLink.drop(link.client);
    }

    /** Releases the bodies. */
    @TearDown
    public void close() {
        small.release();
        large.release();
    }

    /** A request without a body and a response of 200 bytes. */
    @Benchmark
    public int exchange() {
        int id = link.server.open(StreamKind.HTTP, request(), HeadOptions.NONE, true);
        SessionLink.carry(link.server, link.client);
        SessionLink.drop(link.client);
        link.client.respond(id, response(), HeadOptions.NONE, false, false);
        link.client.data(id, small.retainedDuplicate());
        link.client.end(id, null);
        SessionLink.carry(link.client, link.server);
        int bytes = SessionLink.drop(link.server);
        SessionLink.carry(link.server, link.client);
        return bytes;
    }

    /** 64 KiB of an upload. */
    @Benchmark
    public int upload() {
        link.server.data(bulk, large.retainedDuplicate());
        SessionLink.carry(link.server, link.client);
        int bytes = SessionLink.drop(link.client);
        SessionLink.carry(link.client, link.server);
        SessionLink.drop(link.server);
        return bytes;
    }

    private static HeadFields request() {
        var head = new HeadFields(12);
        head.method("GET").scheme("https").authority("acme-prod.example.com").path("/api/v1/items?page=2");
        head.add("accept", "*/*")
                .add("accept-encoding", "gzip, br")
                .add("user-agent", "curl/8.5.0")
                .add("x-forwarded-for", "192.0.2.1")
                .add("x-forwarded-proto", "https")
                .add("x-request-id", "0123456789abcdef0123456789abcdef");
        return head;
    }

    private static HeadFields response() {
        var head = new HeadFields(8);
        head.status("200");
        head.add("server", "nginx")
                .add("date", "Mon, 23 Nov 2026 10:00:00 GMT")
                .add("content-type", "text/plain")
                .add("content-length", "200")
                .add("etag", "\"65f0c8d2-c8\"");
        return head;
    }
}
