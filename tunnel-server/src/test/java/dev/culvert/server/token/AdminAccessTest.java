package dev.culvert.server.token;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminToken;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

class AdminAccessTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();

    @Test
    void aRotationKeepsTheSecretThatIsGoodWhenItIsWritten() {
        AdminToken file = await(AdminToken.load(folder.resolve("admin.token")));
        SqliteRuntimeStore store = await(
                SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));
        AdminTokenStore tokens = store.adminTokens();
        var other = new AdminAccess(file, tokens, clock);
        await(other.create("robot", AdminRole.READ));
        Mono<AdminAccess.Issued> between = other.rotate("robot", HOUR).cache();
        var slow = (AdminTokenStore) Proxy.newProxyInstance(AdminTokenStore.class.getClassLoader(),
                new Class<?>[]{AdminTokenStore.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(tokens, arguments);
                    return answer instanceof Mono<?> change ? between.then(change) : answer;
                });

        await(new AdminAccess(file, slow, clock).rotate("robot", HOUR));

        assertThat(await(other.caller(await(between).text())).name()).isEqualTo("robot");
        store.close().block();
    }
}
