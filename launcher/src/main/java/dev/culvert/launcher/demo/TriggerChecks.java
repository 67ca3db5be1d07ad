package dev.culvert.launcher.demo;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Checks of the control plane's triggers, through the edge.
 *
 * @param host the host of the control plane
 * @param folder the demo's folder
 */
record TriggerChecks(DemoCaller caller, String host, Path folder) {
    private static final String ALGORITHM = "HmacSHA256";
    private static final String PUSH = """
            {"ref": "refs/heads/main", "after": "8ab686eafeb1f44702738c8b0f24f2567c36da6d",
             "repository": {"full_name": "demo/web"}, "head_commit": {"message": "Checked by the demo"}}""";

    DemoCheck push() {
        return new DemoCheck("a push starts a run", hook().flatMap(hook -> send(hook, PUSH)
                .map(answer -> answer.expect(200).expect("\"pipeline\":\"demo/build\""))
                .then(send(hook, PUSH + " ").map(answer -> answer.expect(403)))
                .thenReturn("a signed push of GitHub is a run of demo/build, an altered one 403")));
    }

    /** The account and the secret. */
    private record Hook(String account, String secret) {}

    private Mono<Hook> hook() {
        return Mono.fromCallable(() -> {
            String[] parts = Files.readString(DemoPlatform.hookSecret(folder)).strip().split(" ", 2);
            return new Hook(parts[0], parts[1]);
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /** Sends a body with the signature of the push. */
    private Mono<DemoCaller.Answer> send(Hook hook, String text) {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        var headers = new DefaultHttpHeaders().add("Content-Type", "application/json")
                .add("Content-Length", body.length)
                .add("X-GitHub-Event", "push")
                .add("X-Hub-Signature-256", "sha256=" + signature(hook.secret));
        return caller.send(HttpMethod.POST, host, "/api/hermes/git/github?account=" + hook.account, headers,
                Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body))));
    }

    private static String signature(String secret) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM));
            return HexFormat.of().formatHex(mac.doFinal(PUSH.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }
}
