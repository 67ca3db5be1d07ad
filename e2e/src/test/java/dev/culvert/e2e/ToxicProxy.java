package dev.culvert.e2e;

import dev.culvert.config.HostPort;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One proxied address: its listener, its connections, the faults that they share. All methods from any thread. */
final class ToxicProxy {
    final String name;
    final HostPort upstream;
    private final Map<String, Toxic> toxics = new ConcurrentHashMap<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile HostPort listen;
    private @Nullable ServerSocket listener;
    private @Nullable Thread acceptor;

    ToxicProxy(String name, HostPort listen, HostPort upstream) {
        this.name = name;
        this.listen = listen;
        this.upstream = upstream;
    }

    HostPort listen() {
        return listen;
    }

    synchronized boolean isEnabled() {
        return listener != null;
    }

    synchronized void enable() throws IOException {
        if (listener == null) {
            var opened = new ServerSocket();
            opened.setReuseAddress(true);
            opened.bind(new InetSocketAddress(InetAddress.getByName(listen.host()), listen.port()));
            listen = HostPort.of((InetSocketAddress) opened.getLocalSocketAddress());
            listener = opened;
            acceptor = Thread.ofVirtual().name("toxic-acceptor").start(() -> accept(opened));
        }
    }

    /** Closes the listener and every connection. */
    synchronized void disable() throws IOException {
        Thread accepting = acceptor;
        if (listener != null && accepting != null) {
            listener.close();
            listener = null;
            end(accepting);
        }
        closeConnections();
    }

    /** The port is free, and no connection comes any more, once its thread has left it. */
    private static void end(Thread accepting) throws IOException {
        try {
            accepting.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("while a port was closed");
        }
    }

    private void closeConnections() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        sockets.clear();
    }

    private void accept(ServerSocket from) {
        while (true) {
            try {
                connect(from.accept());
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void connect(Socket caller) throws IOException {
        var called = new Socket();
        try {
            called.connect(new InetSocketAddress(upstream.host(), upstream.port()));
        } catch (IOException refused) {
            caller.close();
            return;
        }
        caller.setTcpNoDelay(true);
        called.setTcpNoDelay(true);
        sockets.removeIf(Socket::isClosed);
        sockets.addAll(List.of(caller, called));
        new ToxicPipe(caller, called, () -> toxics(true)).start();
        new ToxicPipe(called, caller, () -> toxics(false)).start();
    }

    private List<Toxic> toxics(boolean up) {
        return toxics.values().stream().filter(toxic -> toxic.upstream() == up).toList();
    }

    List<Toxic> toxics() {
        return List.copyOf(toxics.values());
    }

    void put(Toxic toxic) {
        toxics.put(toxic.name(), toxic);
    }

    @Nullable
    Toxic toxic(String called) {
        return toxics.get(called);
    }

    /** Takes a fault off. That of a time-out ends the connections, as Toxiproxy does. */
    void remove(String called) {
        Toxic removed = toxics.remove(called);
        if (removed != null && removed.is("timeout")) {
            try {
                closeConnections();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
