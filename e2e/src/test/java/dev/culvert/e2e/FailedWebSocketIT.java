package dev.culvert.e2e;

import static dev.culvert.e2e.WebSocketBytes.ENDS;
import static dev.culvert.e2e.WebSocketBytes.GOES_ON;
import static dev.culvert.e2e.WebSocketBytes.PING;
import static dev.culvert.e2e.WebSocketBytes.TEXT;
import static dev.culvert.e2e.WebSocketBytes.TEXT_BEGINS;
import static dev.culvert.e2e.WebSocketBytes.frame;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Servers that fail a WebSocket at once, in the middle of what the caller sends, as in the cases 3.2 to 3.4, 4.1.3, 4.1.4,
 * 4.2.3, 4.2.4 and 5.15 of the Autobahn suite: what they wrote before arrives, then the end.
 */
class FailedWebSocketIT {
    private static final int RESERVED_2 = 0x20;
    /** So that the order of the two ends' threads is not the same each time. */
    private static final int TIMES = 5;
    private static final byte[] LARGE = new byte[30_000];

    @TempDir
    static Path folder;
    private static FailingServer server;
    private static Platform platform;

    @BeforeAll
    static void start() throws Exception {
        Arrays.fill(LARGE, (byte) '*');
        server = new FailingServer();
        platform = Platform.start(folder);
        platform.connect("acme", "echo", server.uri());
    }

    @AfterAll
    static void stop() throws IOException {
        platform.close();
        server.close();
    }

    /** What the caller sends: each ends with a frame that is wrong, and one behind it. */
    private static List<List<byte[]>> cases() {
        List<byte[]> reservedBits = List.of(frame(TEXT, "Hello, world!"),
                frame(TEXT | RESERVED_2, "Hello, world!"), frame(PING, 0));
        List<byte[]> reservedOpcode = List.of(frame(TEXT, "Hello, world!"), frame(ENDS | 5, "what?"),
                frame(PING, "ping"));
        List<byte[]> reservedControl = List.of(frame(TEXT, "Hello, world!"), frame(ENDS | 13, 0),
                frame(PING, 0));
        List<byte[]> nothingToContinue = List.of(frame(TEXT_BEGINS, "fragment1"), frame(ENDS, "fragment2"),
                frame(GOES_ON, "fragment3"), frame(TEXT, "fragment4"));
        List<byte[]> large = List.of(frame(TEXT, LARGE), frame(ENDS | 6, 0), frame(PING, 0));
        List<List<byte[]>> all = new ArrayList<>();
        for (List<byte[]> frames : List.of(reservedBits, reservedOpcode, reservedControl, nothingToContinue,
                large)) {
            all.add(frames);
            all.add(List.of(joined(frames)));
        }
        return all;
    }

    private static byte[] joined(List<byte[]> frames) {
        var all = new ByteArrayOutputStream();
        frames.forEach(all::writeBytes);
        return all.toByteArray();
    }

    @ParameterizedTest
    @EnumSource
    void endsAsWithoutTheTunnelInHttp1(FailingServer.Ending ending) throws Exception {
        for (List<byte[]> writes : cases()) {
            byte[] direct = run(direct(ending), writes);
            for (int i = 0; i < TIMES; i++) {
                Wire wire = Wire.secure(port(), host(), "/" + ending);
                assertThat(run(wire, writes)).isEqualTo(direct);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsAsWithoutTheTunnelInHttp2(FailingServer.Ending ending) throws Exception {
        try (Http2Caller caller = new Http2Caller(port())) {
            for (List<byte[]> writes : cases()) {
                byte[] direct = run(direct(ending), writes);
                for (int i = 0; i < TIMES; i++) {
                    Wire wire = caller.webSocket(host(), "/" + ending);
                    assertThat(run(wire, writes)).isEqualTo(direct);
                }
            }
        }
    }

    private static Wire direct(FailingServer.Ending ending) throws IOException {
        return Wire.plain(server.port(), "localhost", "/" + ending);
    }

    private static int port() {
        return platform.server.edgeAddress().port();
    }

    private static String host() {
        return "acme-echo." + Platform.DOMAIN;
    }

    private static byte[] run(Wire wire, List<byte[]> writes) throws IOException {
        try (wire) {
            try {
                for (byte[] bytes : writes) {
                    wire.send(bytes);
                }
            } catch (SocketTimeoutException e) {
                throw e;
            } catch (IOException e) {
                // the server has ended it meanwhile
            }
            return readToTheEnd(wire);
        }
    }

    /** All that comes until the other side ends it, or resets it. */
    private static byte[] readToTheEnd(Wire wire) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try {
            for (int next = wire.in().read(); next >= 0; next = wire.in().read()) {
                bytes.write(next);
            }
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            // a reset
        }
        return bytes.toByteArray();
    }
}
