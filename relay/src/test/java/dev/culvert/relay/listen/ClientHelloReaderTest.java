package dev.culvert.relay.listen;

import static dev.culvert.relay.testing.ClientHelloBytes.body;
import static dev.culvert.relay.testing.ClientHelloBytes.inRecords;
import static dev.culvert.relay.testing.ClientHelloBytes.join;
import static dev.culvert.relay.testing.ClientHelloBytes.message;
import static dev.culvert.relay.testing.ClientHelloBytes.name;
import static dev.culvert.relay.testing.ClientHelloBytes.real;
import static dev.culvert.relay.testing.ClientHelloBytes.serverNames;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem.Cause;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes that name the server of a TLS connection. */
class ClientHelloReaderTest {
    private static final String NAME = "postgres.acme-prod.tunnels.example.com";
    private static final byte[] HELLO = real(NAME);

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);

    @AfterEach
    void everyBufferIsReleased() {
        assertThat(allocator.metric().usedHeapMemory()).isZero();
    }

    private ByteBuf buffer(byte[] bytes) {
        return allocator.heapBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
    }

    /** Reads it at once: the name, or null when it names none. Throws when it is not whole. */
    private @Nullable String nameOf(byte[] bytes) {
        var reader = new ClientHelloReader(allocator);
        try {
            assertThat(reader.take(buffer(bytes))).as("whole").isTrue();
            return reader.serverName();
        } finally {
            reader.release();
        }
    }

    @Test
    void theNameOfARealHelloIsFound() {
        assertThat(nameOf(HELLO)).isEqualTo(NAME);
    }

    @Test
    void namesAreComparedInLowerCaseWithoutTheLastDot() {
        byte[] named = message(1, body(serverNames(name(0, "DB.Acme.Example."))));

        assertThat(nameOf(named)).isEqualTo("db.acme.example");
    }

    @Test
    void aHelloMayNameNobody() {
        assertThat(nameOf(real(null))).isNull();
    }

    @Test
    void aHelloOfOldMayEndBehindItsCompressions() {
        byte[] with = body(new byte[0]);

        assertThat(nameOf(message(1, Arrays.copyOf(with, with.length - 2)))).isNull();
    }

    @Test
    void singleBytesMakeAHello() {
        var reader = new ClientHelloReader(allocator);

        for (int i = 0; i < HELLO.length - 1; i++) {
            assertThat(reader.take(buffer(new byte[]{HELLO[i]}))).isFalse();
        }
        assertThat(reader.take(buffer(new byte[]{HELLO[HELLO.length - 1]}))).isTrue();

        assertThat(reader.serverName()).isEqualTo(NAME);
        ByteBuf all = reader.bytes();
        assertThat(all).isEqualTo(Unpooled.wrappedBuffer(HELLO));
        all.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 4, 5, 100})
    void recordsOfAnyLengthMakeAHelloAndArePassedOnAsTheyCame(int most) {
        byte[] cut = inRecords(HELLO, most);
        var reader = new ClientHelloReader(allocator);

        assertThat(reader.take(buffer(cut))).isTrue();

        assertThat(reader.serverName()).isEqualTo(NAME);
        ByteBuf all = reader.bytes();
        assertThat(all).isEqualTo(Unpooled.wrappedBuffer(cut));
        all.release();
    }

    @Test
    void whatFollowsTheHelloIsPassedOn() {
        byte[] more = join(HELLO, new byte[]{23, 3, 3, 0, 1, 7});
        var reader = new ClientHelloReader(allocator);

        assertThat(reader.take(buffer(more))).isTrue();

        ByteBuf all = reader.bytes();
        assertThat(all).isEqualTo(Unpooled.wrappedBuffer(more));
        all.release();
    }

    static Stream<byte[]> malformed() {
        byte[] empty = {};
        return Stream.of("GET / HTTP/1.1\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                new byte[]{22, 2}, // SSL 2's major version
                new byte[]{(byte) 0x80, 0x2e, 1}, // a hello of SSL 2
                new byte[]{21, 3, 1, 0, 2}, // an alert
                new byte[]{22, 3, 1, 0, 0}, // an empty record
                new byte[]{22, 3, 1, 0x40, 1}, // a record too long
                message(2, body(empty)), // a ServerHello
                message(1, empty), message(1, join(body(empty), new byte[]{0})),
                message(1, body(new byte[]{0, 0, 0})), // an extension cut off
                message(1, body(new byte[]{0, 0, 0, 0})), // server_name without a list
                message(1, body(serverNames(empty))),
                message(1, body(serverNames(name(0, "")))),
                message(1, body(serverNames(name(1, "a.example")))),
                message(1, body(serverNames(name(0, "a b")))),
                message(1, body(serverNames(name(0, "a.example..")))), // two readers may each drop a dot
                message(1, body(serverNames(name(0, "a..example")))),
                message(1, body(serverNames(name(0, ".a.example")))),
                message(1, body(serverNames(name(0, ".")))),
                message(1, body(serverNames(name(0, "a\u0000.example")))),
                message(1, body(serverNames(name(0, "a".repeat(255))))),
                message(1, body(serverNames(join(name(0, "a.example"), name(0, "b.example"))))),
                message(1, body(join(serverNames(name(0, "a.example")), serverNames(name(0, "b.example"))))),
                message(1, body(join(serverNames(name(0, "a.example")), new byte[]{9}))));
    }

    @ParameterizedTest
    @MethodSource("malformed")
    void whatIsNoHelloIsRefused(byte[] bytes) {
        assertThatThrownBy(() -> nameOf(bytes)).isInstanceOfSatisfying(EdgeException.class,
                e -> assertThat(e.problem().cause()).isEqualTo(Cause.BAD_REQUEST));
    }

    @Test
    void aHelloTooLongIsRefusedWhenItSaysSo() {
        byte[] head = Arrays.copyOf(message(1, new byte[ClientHelloReader.MAX_HELLO + 1]), 9);

        assertThatThrownBy(() -> nameOf(head)).isInstanceOfSatisfying(EdgeException.class,
                e -> assertThat(e.problem().cause()).isEqualTo(Cause.HEAD_TOO_LARGE));
    }

    @Test
    void recordsThatCostMoreThanTheyCarryAreRefused() {
        byte[] cut = inRecords(message(1, new byte[ClientHelloReader.MAX_HELLO]), 1);

        assertThatThrownBy(() -> nameOf(Arrays.copyOf(cut, ClientHelloReader.MAX_BYTES + 1)))
                .isInstanceOfSatisfying(EdgeException.class,
                        e -> assertThat(e.problem().cause()).isEqualTo(Cause.HEAD_TOO_LARGE));
    }

    @Test
    void noPrefixAndNoMutationDoesMoreThanBeRefused() {
        var random = new Random(9);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = Arrays.copyOf(HELLO,
                    random.nextInt(4) == 0 ? random.nextInt(HELLO.length) : HELLO.length);
            for (int flips = random.nextInt(4); flips > 0 && bytes.length > 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            var reader = new ClientHelloReader(allocator);
            try {
                if (reader.take(buffer(bytes))) {
                    reader.serverName();
                }
            } catch (EdgeException expected) {
                assertThat(expected.problem().cause()).isIn(Cause.BAD_REQUEST, Cause.HEAD_TOO_LARGE);
            } finally {
                reader.release();
            }
        }
    }
}
