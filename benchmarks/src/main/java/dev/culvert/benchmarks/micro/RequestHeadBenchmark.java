package dev.culvert.benchmarks.micro;

import dev.culvert.relay.inbound.http1.Http1RequestDecoder;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Measures what it costs to read a request of HTTP/1.1, beside Netty's decoder, which is less strict. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RequestHeadBenchmark {
    private static final String FIELDS = """
            Host: acme-prod.example.com
            User-Agent: curl/8.5.0
            Accept: */*
            Accept-Encoding: gzip, br
            X-Trace: 0123456789abcdef
            """.replace("\n", "\r\n");

    private final EmbeddedChannel strict = new EmbeddedChannel(
            new Http1RequestDecoder(CallerLimits.defaults()));
    private final EmbeddedChannel netty = new EmbeddedChannel(new HttpRequestDecoder());
    private final ByteBuf get = text("GET /api/v1/items?page=2 HTTP/1.1\r\n" + FIELDS + "\r\n");
    private final ByteBuf post = text("POST /api/v1/items HTTP/1.1\r\n" + FIELDS
            + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");

    private static ByteBuf text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
    }

    /** Releases the requests. */
    @TearDown
    public void close() {
        get.release();
        post.release();
        strict.finishAndReleaseAll();
        netty.finishAndReleaseAll();
    }

    /** A GET without a body. */
    @Benchmark
    public int get() {
        return read(strict, get);
    }

    /** The same, by Netty's decoder. */
    @Benchmark
    public int getByNetty() {
        return read(netty, get);
    }

    /** A POST with a chunked body. */
    @Benchmark
    public int chunked() {
        return read(strict, post);
    }

    /** The same, by Netty's decoder. */
    @Benchmark
    public int chunkedByNetty() {
        return read(netty, post);
    }

    private static int read(EmbeddedChannel channel, ByteBuf request) {
        channel.writeInbound(request.retainedDuplicate());
        int messages = 0;
        for (Object message = channel.readInbound(); message != null; message = channel.readInbound()) {
            ReferenceCountUtil.release(message);
            messages++;
        }
        return messages;
    }
}
