package dev.culvert.launcher.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SocketHttpTest {
    private static final int MAX_BODY = 1 << 20;

    private final ServerSocket listener;

    SocketHttpTest() throws IOException {
        this.listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws IOException {
        listener.close();
    }

    /** What a server does with its one connection. */
    private interface Conversation {
        void with(Socket socket) throws IOException;
    }

    @Test
    void aRequestSaysWhereItGoesAndHowLongItIs() throws Exception {
        CompletableFuture<String> seen = new CompletableFuture<>();
        serve(socket -> {
            seen.complete(readUntil(socket, "{\"a\":1}"));
            say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        });

        var response = client(10).send("PATCH", uri("/a%2Fb?c=d"), Map.of("Authorization", "Bearer x"),
                "{\"a\":1}".getBytes(StandardCharsets.UTF_8));

        assertThat(response).isEqualTo(new SocketHttp.Response(200, "ok"));
        assertThat(seen.join()).isEqualTo("PATCH /a%2Fb?c=d HTTP/1.1\r\nHost: 127.0.0.1:"
                + listener.getLocalPort()
                + "\r\nConnection: close\r\nAuthorization: Bearer x\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 201 Created\r\ncontent-length: 3\r\n\r\n–",
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\n\u00e2\r\n02\r\n\u0080\u0093\r\n0\r\na: b\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nConnection: close\r\n\r\n–",
            "HTTP/1.0 201\r\n\r\n–"})
    void aBodyIsFramedInEachWayOfHttp(String answer) throws Exception {
        serve(socket -> answer(socket, answer));

        assertThat(client(10).send("GET", uri("/"), Map.of(), null))
                .isEqualTo(new SocketHttp.Response(201, "–"));
    }

    @Test
    void linesArePassedOnAsTheyArrive() throws Exception {
        CompletableFuture<Void> first = new CompletableFuture<>();
        List<String> lines = new ArrayList<>();
        serve(socket -> {
            readUntil(socket, "\r\n\r\n");
            say(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n");
            first.join();
            say(socket, "5;x\r\nc\r\n\nd\r\n0\r\n\r\n");
        });

        var response = client(10).follow(uri("/"), Map.of(), Duration.ofSeconds(10), line -> {
            first.complete(null);
            return lines.add(line);
        });

        assertThat(response).isEqualTo(new SocketHttp.Response(200, ""));
        assertThat(lines).containsExactly("a", "bc", ""); // what has no end is not a line
    }

    @Test
    void aStreamThatIsSilentOrHasAnEndlessLineEnds() throws Exception {
        CompletableFuture<Void> over = new CompletableFuture<>();
        serve(socket -> {
            readUntil(socket, "\r\n\r\n");
            say(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
            over.join();
        });
        assertThatIOException()
                .isThrownBy(() -> client(10).follow(uri("/"), Map.of(), Duration.ofMillis(20), line -> true))
                .withMessageStartingWith("nothing came for ");
        over.complete(null);

        serve(socket -> answer(socket, "HTTP/1.1 200 OK\r\n\r\n" + "x".repeat(MAX_BODY)));
        assertThatIOException()
                .isThrownBy(() -> client(10).follow(uri("/"), Map.of(), Duration.ofSeconds(10), line -> true))
                .withMessage("a line of its answer is larger than 256 KiB");
    }

    @Test
    void anAnswerWithoutContentDoesNotWaitForOne() throws Exception {
        CompletableFuture<Void> over = new CompletableFuture<>();
        serve(socket -> {
            answer(socket, "HTTP/1.1 204 No Content\r\n\r\n");
            over.join();
        });

        assertThat(client(10).send("DELETE", uri("/"), Map.of(), null).status()).isEqualTo(204);

        over.complete(null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Le",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"})
    void anAnswerThatIsCutOffIsNotTaken(String answer) throws Exception {
        serve(socket -> answer(socket, answer));

        assertFails("the connection ended before the answer did");
    }

    /** As a TLS port that is spoken to in the clear, and then with a ClientHello. */
    @Test
    void aPortOfTlsIsToldFromOneThatEnds() throws Exception {
        serve(socket -> {
            readUntil(socket, "\r\n\r\n");
            socket.close();
            try (Socket next = listener.accept()) {
                assertThat(next.getInputStream().read()).isEqualTo(22); // a record of a handshake
                next.getOutputStream().write(new byte[]{21, 3, 3, 0, 2, 2, 40});
                next.getInputStream().readAllBytes();
            }
        });

        assertThatThrownBy(() -> new AdminClient(uri("/"), "token").call("GET", "/runtimes", null))
                .isInstanceOf(AdminUnreachable.class)
                .hasMessageContaining("this is a TLS port; the admin API is at");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SSH-2.0-OpenSSH_9.2p1\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1 1\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nx"})
    void whatIsNoHttpIsSaidSo(String answer) throws Exception {
        serve(socket -> answer(socket, answer));

        assertFails("its answer is not HTTP/1.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 1048577\r\n\r\n", "Content-Length: 9223372036854775807\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n100001\r\n",
            "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\nfffff\r\n"})
    void aBodyAboveTheBoundIsNotRead(String rest) throws Exception {
        serve(socket -> answer(socket, "HTTP/1.1 200 OK\r\n" + rest + "x".repeat(MAX_BODY)));

        assertFails("its answer is larger than 1 MiB");
    }

    @Test
    void aBodyWithoutLengthHasTheBoundToo() throws Exception {
        serve(socket -> answer(socket, "HTTP/1.1 200 OK\r\n\r\n" + "x".repeat(MAX_BODY + 1)));

        assertFails("its answer is larger than 1 MiB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"})
    void aHeadWithoutEndIsNotRead(String again) throws Exception {
        serve(socket -> answer(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(2) + again.repeat(10_000)));

        assertFails("larger than 64 KiB");
    }

    @Test
    void theTimeIsThatOfTheWholeAnswer() throws Exception {
        serve(socket -> {
            answer(socket, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
            trickle(socket, "x");
        });

        assertLate("http://127.0.0.1:" + listener.getLocalPort());
    }

    /** The first record of the handshake never ends. */
    @Test
    void theTimeIsThatOfTheHandshakeToo() throws Exception {
        serve(socket -> {
            say(socket, "\u0016\u0003\u0003@\u0000");
            trickle(socket, "\u0002");
        });

        assertLate("https://127.0.0.1:" + listener.getLocalPort());
    }

    @ParameterizedTest
    @ValueSource(strings = {"httpss://127.0.0.1:1", "ws://127.0.0.1:1", "http:/x", "http://127.0.0.1:0"})
    void anotherSchemeIsNotTakenForHttp(String address) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client(10).send("GET", URI.create(address), Map.of(), null))
                .withMessageContaining(address);
    }

    @Test
    void aRefusedConnectionIsSaidInWords() throws Exception {
        URI nobody = uri("/");
        listener.close();

        assertThatIOException().isThrownBy(() -> client(10).send("GET", nobody, Map.of(), null))
                .satisfies(refused -> assertThat(Reason.of(refused)).isEqualTo("the connection was refused"));
        assertThatIOException()
                .isThrownBy(() -> client(10).send("GET", URI.create("http://nobody.invalid"), Map.of(), null))
                .satisfies(unknown -> assertThat(Reason.of(unknown)).isEqualTo("the name can't be resolved"));
    }

    private static void assertLate(String address) {
        assertThatIOException()
                .isThrownBy(() -> new SocketHttp(Duration.ofMillis(300)).send("GET", URI.create(address),
                        Map.of(), null))
                .satisfies(late -> assertThat(Reason.of(late)).isEqualTo("no answer in time"));
    }

    /** Writes a text again and again, until the client has gone. */
    private static void trickle(Socket socket, String text) throws IOException {
        socket.setSoTimeout(10);
        while (true) {
            say(socket, text);
            try {
                if (socket.getInputStream().read() < 0) {
                    return;
                }
            } catch (SocketTimeoutException e) {
                // next one
            }
        }
    }

    private void assertFails(String reason) {
        assertThatIOException().isThrownBy(() -> client(10).send("GET", uri("/"), Map.of(), null))
                .withMessageContaining(reason);
    }

    private static SocketHttp client(int seconds) {
        return new SocketHttp(Duration.ofSeconds(seconds), MAX_BODY);
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort() + path);
    }

    /** Serves one connection. What the client breaks off is of no interest. */
    private void serve(Conversation conversation) {
        Thread.ofVirtual().start(() -> {
            try (Socket socket = listener.accept()) {
                conversation.with(socket);
            } catch (IOException e) {
                // the client has gone, or the test is over
            }
        });
    }

    /** Answers a request without a body. Not before it was read: else its connection may end in a reset. */
    private static void answer(Socket socket, String text) throws IOException {
        readUntil(socket, "\r\n\r\n");
        say(socket, text);
    }

    private static String readUntil(Socket socket, String end) throws IOException {
        var text = new StringBuilder();
        while (!text.toString().endsWith(end)) {
            text.append((char) socket.getInputStream().read());
        }
        return text.toString();
    }

    /** Writes a text: UTF-8, but a text of Latin 1 beyond ASCII as it is. */
    private static void say(Socket socket, String text) throws IOException {
        boolean bytes = text.chars().allMatch(c -> c < 256);
        socket.getOutputStream()
                .write(text.getBytes(bytes ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }
}
