package dev.culvert.standins.git;

import com.sun.net.httpserver.HttpExchange;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.transport.PacketLineOut;
import org.eclipse.jgit.transport.ReceivePack;
import org.eclipse.jgit.transport.RefAdvertiser.PacketLineOutRefAdvertiser;
import org.eclipse.jgit.transport.UploadPack;

/** Git's smart HTTP, version 0, authenticated by a token as the password of basic authentication. */
final class GitSmartHttp {
    private static final Pattern TARGET = Pattern
            .compile("/(.+)\\.git/(info/refs|git-upload-pack|git-receive-pack)");
    private static final String PUSH = "git-receive-pack";

    private final GitHost host;
    private final String prefix;

    GitSmartHttp(GitHost host, String prefix) {
        this.host = host;
        this.prefix = prefix;
    }

    boolean takes(String path) {
        return path.startsWith(prefix + "/") && TARGET.matcher(path.substring(prefix.length())).matches();
    }

    /** Answers the request. Returns the status. */
    int serve(HttpExchange exchange) throws IOException {
        Matcher target = TARGET.matcher(exchange.getRequestURI().getPath().substring(prefix.length()));
        if (!target.matches()) {
            return refuse(exchange, 404);
        }
        String query = String.valueOf(exchange.getRequestURI().getQuery());
        boolean advertise = target.group(2).equals("info/refs");
        String service = advertise ? query.replaceFirst(".*service=", "") : target.group(2);
        String token = StandInCredentials.password(exchange.getRequestHeaders());
        HostedUser user = token == null ? null : host.owner(token).orElse(null);
        HostedRepository repository = host.find(target.group(1)).orElse(null);
        if (user == null) {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"git\"");
            return refuse(exchange, 401);
        } else if (repository == null) {
            return refuse(exchange, 404);
        } else if (service.equals(PUSH) && !user.mayWrite()) {
            return refuse(exchange, 403);
        }
        String kind = advertise ? "-advertisement" : "-result";
        exchange.getResponseHeaders().set("Content-Type", "application/x-" + service + kind);
        exchange.getResponseHeaders().set("Cache-Control", "no-cache");
        exchange.sendResponseHeaders(200, 0);
        try (Repository git = host.open(repository);
                OutputStream out = new BufferedOutputStream(exchange.getResponseBody(), 64 << 10)) {
            if (advertise) {
                advertise(git, service, out);
            } else {
                exchange(git, service, body(exchange), out);
            }
        }
        return 200;
    }

    private static void advertise(Repository git, String service, OutputStream out) throws IOException {
        var lines = new PacketLineOut(out);
        lines.writeString("# service=" + service + "\n");
        lines.end();
        var advertiser = new PacketLineOutRefAdvertiser(lines);
        if (service.equals(PUSH)) {
            receiver(git).sendAdvertisedRefs(advertiser);
        } else {
            uploader(git).sendAdvertisedRefs(advertiser);
        }
    }

    private static void exchange(Repository git, String service, InputStream in, OutputStream out)
            throws IOException {
        if (service.equals(PUSH)) {
            receiver(git).receive(in, out, null);
        } else {
            uploader(git).upload(in, out, null);
        }
    }

    private static UploadPack uploader(Repository git) {
        var uploader = new UploadPack(git);
        uploader.setBiDirectionalPipe(false);
        return uploader;
    }

    private static ReceivePack receiver(Repository git) {
        var receiver = new ReceivePack(git);
        receiver.setBiDirectionalPipe(false);
        receiver.setAtomic(true);
        return receiver;
    }

    private static InputStream body(HttpExchange exchange) throws IOException {
        boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
        InputStream body = exchange.getRequestBody();
        return zipped ? new GZIPInputStream(body) : body;
    }

    private static int refuse(HttpExchange exchange, int status) throws IOException {
        byte[] text = ("refused with " + status + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, text.length);
        exchange.getResponseBody().write(text);
        return status;
    }
}
