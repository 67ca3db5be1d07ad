package dev.culvert.launcher.cache;

import dev.culvert.launcher.admin.AuthorityFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** Sends requests to a server's edge, whose authority is a file. */
final class EdgeCaller {
    private final SSLContext tls;

    EdgeCaller(Path ca) throws IOException {
        this.tls = AuthorityFile.trusting(ca);
    }

    /** Sends a GET request to {@code 127.0.0.1}, and reads what comes until the end of the connection. */
    void get(int port, String host, String path) throws IOException {
        try (var socket = (SSLSocket) tls.getSocketFactory().createSocket("127.0.0.1", port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getInputStream().readAllBytes();
        }
    }
}
