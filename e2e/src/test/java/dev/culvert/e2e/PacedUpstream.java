package dev.culvert.e2e;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An HTTP/1.1 upstream on plain sockets that writes and reads when the test says so. {@code /events}, {@code /lines} and
 * {@code /until-close} write a part of the body for each permit; {@code /turns} answers each chunk with one; {@code
 * /endless} writes as fast as it may; {@code /unread} reads its request's body only after a permit.
 */
final class PacedUpstream implements AutoCloseable {
    private static final int STEP = 64 << 10;
    private final ServerSocket listener;
    final Semaphore permits = new Semaphore(0);
    /** Body bytes that {@code /endless} has written, or {@code /unread} has read. */
    final AtomicLong moved = new AtomicLong();

    PacedUpstream() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed: the test is over
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), STEP));
            OutputStream out = socket.getOutputStream();
            String path = WebSocketBytes.head(in).split(" ", 3)[1];
            switch (path) {
                case "/events" -> parts(out, "text/event-stream", "data: %s\n\n");
                case "/lines" -> parts(out, "application/x-ndjson", "{\"n\":\"%s\"}\n");
                case "/until-close" -> untilClose(out);
                case "/turns" -> turns(in, out);
                case "/endless" -> endless(out);
                case "/unread" -> unread(in, out);
                default -> write(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
            }
        } catch (IOException e) {
            // its caller went away
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void head(OutputStream out, String type) throws IOException {
        write(out, "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    private static void chunk(OutputStream out, String text) throws IOException {
        write(out, Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
    }

    private void parts(OutputStream out, String type, String form) throws IOException, InterruptedException {
        head(out, type);
        for (String word : new String[]{"first", "second"}) {
            permits.acquire();
            chunk(out, form.formatted(word));
        }
        write(out, "0\r\n\r\n");
    }

    private void untilClose(OutputStream out) throws IOException, InterruptedException {
        write(out, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        for (String word : new String[]{"first", "second"}) {
            permits.acquire();
            write(out, word);
        }
    }

    private static void turns(DataInputStream in, OutputStream out) throws IOException {
        head(out, "text/plain");
        int size = chunkSize(in);
        while (size > 0) {
            chunk(out, "heard " + new String(in.readNBytes(size), StandardCharsets.US_ASCII));
            in.readFully(new byte[2]);
            size = chunkSize(in);
        }
        write(out, "0\r\n\r\n");
    }

    private static int chunkSize(InputStream in) throws IOException {
        var line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("ended in its body");
            }
            line.append((char) c);
        }
        return Integer.parseInt(line.toString().strip(), 16);
    }

    private void endless(OutputStream out) throws IOException {
        head(out, "application/octet-stream");
        String step = "*".repeat(STEP);
        while (true) {
            chunk(out, step);
            moved.addAndGet(STEP);
        }
    }

    private void unread(DataInputStream in, OutputStream out) throws IOException, InterruptedException {
        permits.acquire();
        byte[] step = new byte[STEP];
        int size = chunkSize(in);
        while (size > 0) {
            while (size > 0) {
                int read = in.read(step, 0, Math.min(size, STEP));
                if (read < 0) {
                    return;
                }
                size -= read;
                moved.addAndGet(read);
            }
            in.readFully(new byte[2]);
            size = chunkSize(in);
        }
        write(out, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nread");
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
