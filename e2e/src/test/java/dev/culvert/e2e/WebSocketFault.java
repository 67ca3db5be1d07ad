package dev.culvert.e2e;

import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.relay.testing.TlsCaller;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** Frames of RFC 6455 on the tunnel listener, from a client that has proven nothing. */
final class WebSocketFault {
    private WebSocketFault() {}

    /** Sends a case's frames. Returns {@code closed} with the code of the Close frame, or {@code silent}. */
    static String answer(CorpusCase given, int port) throws IOException {
        try (Socket socket = new TlsCaller(port).socket()) {
            socket.getOutputStream()
                    .write(WebSocketBytes.handshake("localhost", "/tunnel/v1",
                            "Sec-WebSocket-Protocol: culvert.v1",
                            "culvert-proof: opening"));
            InputStream in = socket.getInputStream();
            String head = WebSocketBytes.head(in);
            if (!head.startsWith("HTTP/1.1 101 ")) {
                return head.substring(0, head.indexOf('\r'));
            }
            try {
                socket.getOutputStream().write(given.bytes("").getBytes(StandardCharsets.ISO_8859_1));
            } catch (IOException e) {
                // refused before all was sent: the answer is there
            }
            return ended(in);
        }
    }

    private static String ended(InputStream in) {
        var received = new ByteArrayOutputStream();
        try {
            in.transferTo(received);
        } catch (SocketTimeoutException e) {
            return "silent";
        } catch (IOException e) {
            // closed with bytes unread: what came before that counts
        }
        return "closed " + WebSocketBytes.closeCode(received.toByteArray());
    }
}
