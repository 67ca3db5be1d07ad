package dev.culvert.handlers.server;

import dev.culvert.config.HostPort;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** A blocking socket for tests that care about the bytes on the wire. */
final class RawClient implements AutoCloseable {
    private final Socket socket;

    RawClient(HostPort address) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), address.port());
        socket.setSoTimeout(10_000);
    }

    RawClient send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        return this;
    }

    InputStream input() throws IOException {
        return socket.getInputStream();
    }

    /** Reads until what was read ends with {@code end}. */
    String readUntil(String end) throws IOException {
        var text = new StringBuilder();
        while (text.indexOf(end) < 0) {
            int c = input().read();
            if (c < 0) {
                throw new IOException("closed after: " + text);
            }
            text.append((char) c);
        }
        return text.toString();
    }

    /** Reads until the server closes; a reset is noted as {@code <reset>}. */
    String readAll() throws IOException {
        var bytes = new ByteArrayOutputStream();
        String end = "";
        try {
            input().transferTo(bytes);
        } catch (SocketException e) {
            end = "<reset>";
        }
        return bytes.toString(StandardCharsets.ISO_8859_1) + end;
    }

    /** Leaves with a reset. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
