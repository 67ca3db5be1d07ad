package dev.culvert.platform.runtimes;

import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.spi.AccountSettings;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.runtimes.store.SettingsTable;
import java.net.URI;
import java.net.URISyntaxException;
import reactor.core.publisher.Mono;

/** The Git settings of accounts. They hold no credentials: URLs with a user are refused. */
final class GitSettingsFunction implements AccountSettings {
    private static final int MAX_CHARS = 512;

    private final Store store;

    GitSettingsFunction(Store store) {
        this.store = store;
    }

    @Override
    public Mono<GitSettings> of(String account) {
        return store.read(connection -> SettingsTable.of(connection, account));
    }

    /** Replaces the settings of the caller's account. */
    Mono<Boolean> update(GraphQlCall call, PlatformCaller caller) {
        var wanted = new GitSettings(String.valueOf(call.arguments().get("gitProvider")),
                url(call, "gitApiUrl"), url(call, "sharedConfigRepo"));
        return store.change(caller.account(), connection -> {
            SettingsTable.put(connection, caller.account(), wanted);
            return true;
        });
    }

    /** Sets the repository if none is set. Emits the one that is set now. */
    Mono<String> suggest(GraphQlCall call, PlatformCaller caller) {
        String suggested = url(call, "suggestedSharedConfigRepo");
        return store.change(caller.account(), connection -> {
            GitSettings before = SettingsTable.of(connection, caller.account());
            String known = before.sharedConfigRepo();
            if (known != null) {
                return known;
            }
            SettingsTable.put(connection, caller.account(),
                    new GitSettings(before.gitProvider(), before.gitApiUrl(), suggested));
            return suggested;
        });
    }

    private static String url(GraphQlCall call, String argument) {
        String text = String.valueOf(call.arguments().get(argument));
        try {
            URI url = new URI(text);
            if (text.length() <= MAX_CHARS && url.getHost() != null && url.getRawUserInfo() == null
                    && ("https".equals(url.getScheme()) || "http".equals(url.getScheme()))) {
                return text;
            }
        } catch (URISyntaxException e) {
            // reported below
        }
        throw HandlerException.of(Reason.BAD_REQUEST,
                argument + ": not a URL of http or https without a user, of at most " + MAX_CHARS
                        + " characters");
    }
}
