package dev.culvert.launcher.demo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Checks that send traffic through the edge.
 *
 * @param host the host of the connected runtime
 * @param idleHost the host of a runtime that never connects
 * @param unknownHost a host of no runtime
 * @param platformHost the host of the control plane
 */
record TrafficChecks(DemoCaller caller, DemoEventSource eventSource, String host, String idleHost,
        String unknownHost, String platformHost) {
    private static final long BULK = 64L << 20;
    private static final Pattern SENT_AT = Pattern.compile("\"sentAtMillis\":(\\d+)");

    List<DemoCheck> all() {
        return List.of(new DemoCheck("plain GET", plainGet()), new DemoCheck("upload 64 MiB", upload()),
                new DemoCheck("download 64 MiB", download()), new DemoCheck("WebSocket echo", webSocket()),
                new DemoCheck("SSE", events()), new DemoCheck("webhook", webhook()),
                new DemoCheck("platform host", platform()),
                new DemoCheck("unknown host", problem(unknownHost, 404, "unknown-host")),
                new DemoCheck("no tunnel", problem(idleHost, 503, "no-tunnel")));
    }

    private Mono<String> plainGet() {
        return caller.get(host, "/workflows/api/v1/info")
                .map(answer -> answer.expect(200).expect("\"standIn\":true"))
                .then(caller.get(host, "/app-proxy/api/info"))
                .map(answer -> answer.expect(200).expect("\"workflows\"").expect("\"version\""))
                .thenReturn("/workflows/api/v1/info and /app-proxy/api/info answered 200");
    }

    private Mono<String> platform() {
        return caller.get(platformHost, "/api/ping").map(answer -> {
            answer.expect(200);
            expect(answer.body().strip().equals("ok"), "the body is " + answer.body());
            return caller.url(platformHost, "/api/ping") + " answered ok";
        });
    }

    private Mono<String> upload() {
        String hash = DemoBytes.sha256(BULK);
        var headers = new DefaultHttpHeaders().add("Content-Type", "application/octet-stream");
        return caller.send(HttpMethod.PUT, host, "/workflows/upload", headers, DemoBytes.stream(BULK))
                .map(answer -> answer.expect(200).expect("\"bytes\":" + BULK + ",").expect(hash))
                .thenReturn("sha256 " + hash.substring(0, 16) + "… on both ends");
    }

    private Mono<String> download() {
        String hash = DemoBytes.sha256(BULK);
        MessageDigest digest = DemoBytes.digest();
        return caller.http()
                .get()
                .uri(caller.url(host, "/workflows/download/" + BULK))
                .responseContent()
                .reduce(0L, (total, chunk) -> {
                    DemoBytes.update(digest, chunk);
                    return total + chunk.readableBytes();
                })
                .map(total -> {
                    expect(total == BULK, total + " bytes instead of " + BULK);
                    expect(DemoBytes.hex(digest).equals(hash), "the hashes differ");
                    return "sha256 " + hash.substring(0, 16) + "… on both ends";
                });
    }

    private Mono<String> webSocket() {
        byte[] binary = everyByte();
        String text = "Grüße durch den Tunnel";
        Flux<WebSocketFrame> sent = Flux.defer(() -> Flux.just(new TextWebSocketFrame(text),
                new BinaryWebSocketFrame(Unpooled.wrappedBuffer(binary))));
        return caller.http()
                .websocket()
                .uri(caller.url(host, "/workflows/ws/echo").replaceFirst("https", "wss"))
                .handle((in, out) -> out.sendObject(sent)
                        .then()
                        .thenMany(in.aggregateFrames().receiveFrames().take(2).map(TrafficChecks::copy))
                        .concatWith(out.sendClose().then(Mono.empty())))
                .collectList()
                .map(echoed -> {
                    expect(echoed.size() == 2, echoed.size() + " frames instead of 2");
                    expect(echoed.getFirst().equals("text " + text),
                            "the text came back as " + echoed.getFirst());
                    expect(echoed.getLast().equals("binary " + Base64.getEncoder().encodeToString(binary)),
                            "the binary frame came back changed");
                    return "text and binary came back as sent";
                });
    }

    private static String copy(WebSocketFrame frame) {
        return switch (frame) {
            case TextWebSocketFrame text -> "text " + text.text();
            default -> "binary " + Base64.getEncoder()
                    .encodeToString(
                            ByteBufUtil.getBytes(frame.content()));
        };
    }

    private Mono<String> events() {
        var seenAtMillis = new ArrayList<Long>();
        return caller.http()
                .headers(headers -> headers.set("Accept", "text/event-stream"))
                .get()
                .uri(caller.url(host, "/workflows/api/v1/workflow-events/demo"))
                .responseContent()
                .asString()
                .doOnNext(part -> seenAtMillis.add(System.currentTimeMillis()))
                .reduce("", String::concat)
                .map(all -> {
                    List<Long> sentAt = SENT_AT.matcher(all)
                            .results()
                            .map(found -> Long.valueOf(found.group(1)))
                            .toList();
                    expect(sentAt.size() == DemoWorkflows.EVENTS, sentAt.size() + " events: " + all);
                    long ahead = sentAt.getLast() - seenAtMillis.getFirst();
                    expect(ahead > 0,
                            "the first event was seen only " + -ahead + " ms after the last was sent");
                    return "first event seen " + ahead + " ms before the last was sent";
                });
    }

    private Mono<String> webhook() {
        byte[] body = everyByte();
        String path = "/webhooks/demo/push/hook?x=%2Fa&y=";
        String delivery = "check-" + Long.toHexString(System.nanoTime());
        var headers = new DefaultHttpHeaders().add("Content-Type", "application/json")
                .add("X-GitHub-Delivery", delivery)
                .add("X-Hub-Signature-256", "sha256=0123");
        ByteBuf bytes = Unpooled.wrappedBuffer(body);
        headers.add("Content-Length", body.length);
        return caller.send(HttpMethod.POST, host, path, headers, Flux.just(bytes))
                .map(answer -> answer.expect(200))
                .map(answer -> eventSource.received()
                        .stream()
                        .filter(got -> delivery.equals(header(got, "X-GitHub-Delivery")))
                        .findFirst()
                        .orElseThrow(() -> new DemoException("the event source got nothing")))
                .map(got -> {
                    expect(got.uri().equals(path), "the path arrived as " + got.uri());
                    expect(got.body().equals(Base64.getEncoder().encodeToString(body)),
                            "the body arrived changed");
                    expect("sha256=0123".equals(header(got, "X-Hub-Signature-256")), "the signature is gone");
                    return body.length + " bytes, path and signature arrived as sent";
                });
    }

    private static String header(DemoEventSource.Webhook webhook, String name) {
        return webhook.headers()
                .entrySet()
                .stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("");
    }

    private Mono<String> problem(String problemHost, int status, String cause) {
        return caller.get(problemHost, "/app-proxy/api/info").map(answer -> {
            answer.expect(status).expect("urn:culvert:problem:" + cause);
            String type = String.valueOf(answer.headers().get("Content-Type"));
            expect(type.startsWith("application/problem+json"), "content type " + type);
            return problemHost + " answered " + status + " " + cause;
        });
    }

    private static byte[] everyByte() {
        byte[] bytes = new byte[1024];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i + i / 256);
        }
        return bytes;
    }

    private static void expect(boolean truth, String otherwise) {
        if (!truth) {
            throw new DemoException(otherwise);
        }
    }
}
