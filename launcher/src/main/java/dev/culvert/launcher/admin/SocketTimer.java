package dev.culvert.launcher.admin;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a socket when a time is over, whatever is done with it: connecting, a TLS handshake, reading or
 * writing. What then waits for the socket fails. Ends its thread when it is closed.
 */
final class SocketTimer implements AutoCloseable {
    private final Duration time;
    private @Nullable Socket socket;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean passed;

    private SocketTimer(Duration time) {
        this.time = time;
    }

    static SocketTimer start(Duration time) {
        var timer = new SocketTimer(time);
        Thread.ofPlatform().daemon().name("deadline").start(timer::watch);
        return timer;
    }

    /**
     * Guards a socket instead of the one before. Closes it at once when the time is over.
     */
    synchronized void guard(Socket next) throws IOException {
        socket = next;
        if (passed) {
            next.close();
        }
    }

    private synchronized void expire() throws IOException {
        passed = true;
        if (socket != null) {
            socket.close();
        }
    }

    /** Whether the socket was closed because the time is over. */
    boolean passed() {
        return passed;
    }

    @Override
    public void close() {
        closed.countDown();
    }

    private void watch() {
        try {
            if (!closed.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
                expire();
            }
        } catch (InterruptedException | IOException e) {
            // nobody interrupts it, and a socket that fails to close is of no more use to anybody
            passed = true;
        }
    }
}
