package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names of fields keep the spelling that HTTP/1.1 gave them through edge, tunnel and router. */
class SpelledNamesIT {
    private static final String HOST = "acme-prod." + Platform.DOMAIN;
    private static final String END = "\r\n\r\n";

    @TempDir
    static Path folder;
    private static CaseSensitiveUpstream upstream;
    private static Platform platform;

    @BeforeAll
    static void start() throws Exception {
        upstream = new CaseSensitiveUpstream();
        platform = Platform.start(folder);
        platform.connect("acme", "prod", upstream.uri());
    }

    @AfterAll
    static void stop() throws Exception {
        platform.close();
        upstream.close();
    }

    private static String ask(String requestLine, String... fields) throws Exception {
        return RawCaller.exchange(platform, requestLine + " HTTP/1.1\r\nHost: " + HOST + "\r\n"
                + String.join("\r\n", fields) + END);
    }

    /** The first request is read as a usual one, the other, which ends the connection, by the decoder. */
    private static String seen(String... fields) throws Exception {
        String usual = String.join("\r\n", fields) + "\r\n";
        return RawCaller.exchange(platform, "GET /1 HTTP/1.1\r\nHost: " + HOST + "\r\n" + usual + "\r\n"
                + "GET /2 HTTP/1.1\r\nHost: " + HOST + "\r\nConnection: close\r\n" + usual + "\r\n");
    }

    @Test
    void anUpstreamSeesNamesAsTheirCallerWroteThem() throws Exception {
        String seen = seen("X-Custom-ID: 1", "x-MiXeD: 2", "accept: a/b", "USER-AGENT: c", "X-Plain: 3");

        String together = String.join("\r\n", "", "X-Custom-ID: 1", "x-MiXeD: 2", "accept: a/b",
                "USER-AGENT: c", "X-Plain: 3", "");
        assertThat(seen.split(together, -1)).hasSize(3);
        assertThat(seen).contains("\r\nX-Forwarded-For: ", "\r\nX-Request-Id: ", "\r\nVia: ")
                .contains("GET /1 HTTP/1.1\r\nHost: ", "GET /2 HTTP/1.1\r\nHost: ");
    }

    @Test
    void aCallerSeesNamesAsTheUpstreamWroteThem() throws Exception {
        String fields = "\r\nX-Custom-ID: 7\r\nETag: \"1\"\r\nx-MiXeD: 1\r\nx-MiXeD: 2\r\n";

        assertThat(seen("X-A: 1").split(fields, -1)).hasSize(3);
        assertThat(ask("GET /chunked", "TE: trailers", "Connection: close"))
                .contains(fields, "HTTP/1.1 103 Early Hints\r\nLINK: </a>\r\n", "\r\n0\r\nX-SUM: 1\r\n\r\n",
                        "\r\nTransfer-Encoding: chunked\r\n", "\r\nConnection: close\r\n",
                        "\r\nTE: trailers");
    }

    @Test
    void namesInLowerCaseStayInLowerCase() throws Exception {
        String head = " HTTP/1.1\r\nhost: " + HOST + "\r\naccept: a/b\r\nx-custom-id: 1\r\n";

        assertThat(RawCaller.exchange(platform, "GET /1" + head + "\r\nGET /2" + head
                + "connection: close" + END).split("\r\naccept: a/b\r\nx-custom-id: 1\r\n", -1)).hasSize(3);
    }

    @Test
    void aProblemIsSpelledToo() throws Exception {
        assertThat(RawCaller.exchange(platform, "GET / HTTP/1.1\r\nHost: none." + Platform.DOMAIN
                + "\r\nConnection: close" + END))
                .contains("\r\nContent-Type: application/problem+json", "\r\nContent-Length: ",
                        "\r\nConnection: close\r\n");
    }

    @Test
    void http2CallersNamesAreCanonicalForAnUpstream() throws Exception {
        try (Http2Caller caller = new Http2Caller(platform.server.edgeAddress().port());
                Http2Caller.Stream stream = caller.open(new DefaultHttp2Headers().method("GET")
                        .scheme("https")
                        .authority(HOST)
                        .path("/")
                        .add("content-type", "a/b")
                        .add("x-custom-id", "1"), true)) {
            assertThat(stream.head())
                    .contains("x-custom-id: 7\r\netag: \"1\"\r\nx-mixed: 1\r\nx-mixed: 2\r\n");
            assertThat(new String(stream.readAll(), StandardCharsets.US_ASCII))
                    .contains("\r\nHost: ", "\r\nContent-Type: a/b\r\nX-Custom-Id: 1\r\n");
        }
    }

    @Test
    void aWebSocketIsSpelledForAnUpstream() throws Exception {
        int port = platform.server.edgeAddress().port();
        try (Wire wire = Wire.secure(port, HOST, "/", "X-Custom-ID: 1")) {
            assertThat(read(wire)).contains("\r\nX-Custom-ID: 1\r\n", "\r\nUpgrade: websocket\r\n");
        }
        String answer = head(port);
        assertThat(answer).contains("\r\nUpgrade: websocket\r\n", "\r\nConnection: ",
                "\r\nSec-WebSocket-Accept: x\r\nX-Custom-ID: 7\r\n");
        try (Http2Caller caller = new Http2Caller(port); Wire wire = caller.webSocket(HOST, "/")) {
            assertThat(read(wire)).contains("\r\nSec-WebSocket-Version: 13\r\n",
                    "\r\nUpgrade: websocket\r\n");
            assertThat(wire.head()).contains("x-custom-id: 7");
        }
    }

    /** What the upstream sends behind its 101: the head that it got. */
    private static String read(Wire wire) throws Exception {
        return head(wire.in());
    }

    private static String head(int port) throws Exception {
        try (var socket = Wire.tls(port)) {
            socket.getOutputStream()
                    .write(("GET / HTTP/1.1\r\nHost: " + HOST
                            + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
                            + END)
                            .getBytes(StandardCharsets.US_ASCII));
            return head(socket.getInputStream());
        }
    }

    private static String head(InputStream in) throws Exception {
        var head = new StringBuilder();
        for (int next = in.read(); next >= 0; next = in.read()) {
            head.append((char) next);
            if (head.indexOf(END) >= 0) {
                break;
            }
        }
        return head.toString();
    }
}
