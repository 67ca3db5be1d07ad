package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.DirectoryFile;
import dev.culvert.platform.directory.store.DirectoryLimits;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class DirectoryApiTest {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    /** Else administrators would change things without a trace, by closing their connection at once. */
    @Test
    void aCallerWhoLeavesLeavesARecord() throws IOException, InterruptedException {
        DirectoryFile open = DirectoryFile.open(folder.resolve("d.db"), DirectoryLimits.defaults());
        Directory directory = open.directory();
        AuditTrail audit = AuditTrail.in(folder, Clock.systemUTC());
        var key = new AtomicReference<String>("");
        directory.bootstrap("main", first -> key.set(first.reveal())).block(TIME);
        var begun = new CountDownLatch(1);
        var call = RestCall.of(HttpMethod.DELETE, "/api/things/{id}", Who.ADMIN, "",
                scope -> Mono.never().doOnSubscribe(subscribed -> begun.countDown()).then(Mono.empty()));
        var api = new RestApi("things", List.of(call), new KeyCheck(directory, 1_000), null, audit);

        Disposable left = api.handle(new EdgeRequest(HttpMethod.DELETE, "/api/things/7",
                new DefaultHttpHeaders().set("authorization", key.get()), Flux.empty(),
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)))).subscribe();
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
        left.dispose();

        audit.close().block(TIME);
        open.close();
        assertThat(Files.readString(folder.resolve("audit-changes.log"))).contains("/api/things/7",
                "\"decision\":\"failed\"", "it may have happened");
    }
}
