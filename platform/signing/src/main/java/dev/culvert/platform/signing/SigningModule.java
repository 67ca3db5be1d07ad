package dev.culvert.platform.signing;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.spi.AccountEnds;
import dev.culvert.platform.host.spi.PlatformModule;
import dev.culvert.platform.host.spi.Rewrapping;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.host.spi.TableVersions;
import dev.culvert.platform.signing.store.SigningSchema;
import dev.culvert.platform.signing.store.SigningTable;
import dev.culvert.store.Rows;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The module that signs the certificates of build machines. */
public final class SigningModule implements PlatformModule {
    static final String NAME = "signing";
    private static final List<String> TABLES = List.of("signing_authority", "signing_name",
            "signing_certificate");

    private @Nullable Rewrapping rewrapping;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of(SigningCalls.ROOT + "/");
    }

    @Override
    public TableVersions tables() {
        return SigningSchema.VERSIONS;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        Store store = context.service(Store.class);
        SecretWrapping wrapping = context.service(SecretWrapping.class);
        rewrapping = new Rewrapping("keys of authorities", store, wrapping, new SigningTable.Secrets());
        context.service(AccountEnds.class).add((change, account) -> {
            for (String table : TABLES) {
                Rows.update(change, "DELETE FROM " + table + " WHERE account = ?", account);
            }
        });
        return RestApi.of(NAME, context,
                SigningCalls.of(new Signer(store, wrapping, Clock.systemUTC()), store));
    }

    @Override
    public List<String> troubles() {
        Rewrapping here = rewrapping;
        return here == null ? List.of() : here.troubles();
    }

    @Override
    public Mono<Void> start() {
        return Mono.fromRunnable(() -> {
            if (rewrapping != null) {
                rewrapping.start();
            }
        });
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        return Mono.fromRunnable(() -> {
            if (rewrapping != null) {
                rewrapping.stop();
            }
        });
    }
}
