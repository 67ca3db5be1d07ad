package dev.culvert.e2e;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Supplier;

/** One direction of a proxied connection: a thread that reads, a bounded queue, and a thread that writes after the faults. */
final class ToxicPipe {
    private static final int PIECE = 16 << 10;
    private static final int QUEUED_PIECES = 64;
    /** Bandwidth is handed out in shares of this. */
    private static final int SHARES_PER_SECOND = 20;
    private static final Piece END = new Piece(new byte[0]);

    private final Socket from;
    private final Socket to;
    private final Supplier<List<Toxic>> toxics;
    private final BlockingQueue<Piece> queue = new ArrayBlockingQueue<>(QUEUED_PIECES);
    private long passed;

    /** What was read at once, and when; empty at the end. */
    private static final class Piece {
        private final byte[] bytes;
        private final long atNanos = System.nanoTime();

        Piece(byte[] bytes) {
            this.bytes = bytes;
        }

        int length() {
            return bytes.length;
        }
    }

    /** @param toxics of this direction, asked before each piece */
    ToxicPipe(Socket from, Socket to, Supplier<List<Toxic>> toxics) {
        this.from = from;
        this.to = to;
        this.toxics = toxics;
    }

    void start() {
        Thread.ofVirtual().name("toxic-reader").start(this::read);
        Thread.ofVirtual().name("toxic-writer").start(this::write);
    }

    private void read() {
        try {
            InputStream in = from.getInputStream();
            byte[] buffer = new byte[PIECE];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                queue.put(new Piece(Arrays.copyOf(buffer, n)));
            }
            queue.put(END);
        } catch (IOException lost) {
            if (!isSilent()) {
                reset();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void write() {
        try {
            OutputStream out = to.getOutputStream();
            for (Piece piece = queue.take(); piece.length() > 0; piece = queue.take()) {
                pass(piece, out);
            }
            for (Toxic toxic : toxics.get()) {
                if (toxic.is("slow_close")) {
                    Thread.sleep(toxic.millis("delay"));
                }
            }
            if (!isSilent()) {
                to.shutdownOutput();
            }
        } catch (IOException lost) {
            if (!isSilent()) {
                reset();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Silence swallows the end of a connection too: else the other side would be told. */
    private boolean isSilent() {
        return toxics.get().stream().anyMatch(toxic -> toxic.is("timeout") && toxic.value("timeout") == 0);
    }

    private void pass(Piece piece, OutputStream out) throws IOException, InterruptedException {
        Toxic slicer = null;
        Toxic bandwidth = null;
        for (Toxic toxic : toxics.get()) {
            switch (toxic.type()) {
                case "latency" -> sleepUntil(
                        piece.atNanos + Duration.ofMillis(toxic.about("latency", "jitter", 0)).toNanos());
                case "slicer" -> slicer = toxic;
                case "bandwidth" -> bandwidth = toxic;
                default -> {
                    if (isEaten(toxic, piece, out)) {
                        return;
                    }
                }
            }
        }
        for (int at = 0; at < piece.length();) {
            int length = piece.length() - at;
            Duration pause = Duration.ZERO;
            if (slicer != null) {
                length = Math.min(length, (int) slicer.about("average_size", "size_variation", 1));
                pause = Duration.ofNanos(slicer.value("delay") * 1000);
            }
            if (bandwidth != null) {
                long bytesPerSecond = Math.max(1, bandwidth.value("rate")) * 1000;
                length = (int) Math.min(length, bytesPerSecond / SHARES_PER_SECOND);
                pause = pause.plusNanos(length * 1_000_000_000L / bytesPerSecond);
            }
            out.write(piece.bytes, at, length);
            at += length;
            Thread.sleep(pause);
        }
        passed += piece.length();
    }

    /** Whether a fault that lets nothing more through took the piece. */
    private boolean isEaten(Toxic toxic, Piece piece, OutputStream out)
            throws IOException, InterruptedException {
        switch (toxic.type()) {
            case "timeout" -> drop(toxic);
            case "reset_peer" -> {
                Thread.sleep(toxic.millis("timeout"));
                reset();
            }
            case "limit_data" -> {
                long left = toxic.value("bytes") - passed;
                if (piece.length() <= left) {
                    return false;
                }
                out.write(piece.bytes, 0, (int) Math.max(0, left));
                close();
            }
            default -> {
                return false; // slow_close acts at the end
            }
        }
        return true;
    }

    private void drop(Toxic timeout) throws InterruptedException, IOException {
        if (timeout.value("timeout") > 0) {
            Thread.sleep(timeout.millis("timeout"));
            close();
        }
    }

    private static void sleepUntil(long nanos) throws InterruptedException {
        long left = nanos - System.nanoTime();
        if (left > 0) {
            Thread.sleep(Duration.ofNanos(left));
        }
    }

    private void close() throws IOException {
        from.close();
        to.close();
    }

    /** Both sides get RST, not FIN. */
    private void reset() {
        resetOne(from);
        resetOne(to);
    }

    private static void resetOne(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException alreadyClosed) {
            return;
        }
    }
}
