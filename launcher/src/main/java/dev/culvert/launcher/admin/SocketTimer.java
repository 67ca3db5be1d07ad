package dev.culvert.launcher.admin;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Closes a socket when a time is over, whatever is done with it: connecting, a TLS handshake, reading or
 * writing. What then waits for the socket fails. Ends its thread when it is closed.
 */
final class SocketTimer implements AutoCloseable {
    private final Socket socket;
    private final Duration time;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean passed;

    private SocketTimer(Socket socket, Duration time) {
        this.socket = socket;
        this.time = time;
    }

    static SocketTimer start(Socket socket, Duration time) {
        var timer = new SocketTimer(socket, time);
        Thread.ofPlatform().daemon().name("deadline").start(timer::watch);
        return timer;
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
                passed = true;
                socket.close();
            }
        } catch (InterruptedException | IOException e) {
            // nobody interrupts it, and a socket that fails to close is of no more use to anybody
            passed = true;
        }
    }
}
