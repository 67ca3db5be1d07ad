package dev.culvert.launcher.command;

import dev.culvert.config.SettingInfo;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.server.ServerConfig;
import dev.culvert.server.store.StoreBackup;
import java.nio.file.Path;
import java.time.Clock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** A command on the database of a server, which the server's own configuration locates. */
abstract class ServerStoreCommand extends ConfiguredCommand {
    ServerStoreCommand() {
        super(ServerConfig.class);
    }

    @Override
    public final boolean takes(SettingInfo setting) {
        return setting.key().equals("dataDir") || setting.key().equals("edge.domain");
    }

    /** Does the work. Emits the message for the user. */
    abstract Mono<String> work(StoreBackup store, ServerConfig config);

    @Override
    public final Mono<Integer> run() {
        return Mono.defer(() -> {
            ServerConfig config = binding().value(ServerConfig.class);
            return work(new StoreBackup(config.dataDir(), Clock.systemUTC()), config);
        }).map(told -> {
            System.out.println(told);
            return ExitCode.DONE;
        });
    }

    /** {@code culvert server backup}. */
    @Command(name = "backup", description = "Copies the server's database to one file, mode 0600, and its inbox to a folder beside it, also while the server runs.", footer = {
            "", "Example:", "  culvert server backup --config server.yaml --to culvert-20260102.db"})
    static final class Backup extends ServerStoreCommand {
        @Option(names = "--to", required = true, paramLabel = "FILE", description = "A new file. It holds hashes of tokens: keep it as secret as those.")
        private Path to = Path.of("");

        @Override
        Mono<String> work(StoreBackup store, ServerConfig config) {
            return store.backup(to).map(written -> "backup written: " + written);
        }
    }

    /** {@code culvert server restore}. */
    @Command(name = "restore", description = "Puts a backup in the place of the database of a server that is stopped; the database that was there is kept.", footer = {
            "", "Example:", "  culvert server restore --config server.yaml --from culvert-20260102.db"})
    static final class Restore extends ServerStoreCommand {
        @Option(names = "--from", required = true, paramLabel = "FILE", description = "What culvert server backup wrote.")
        private Path from = Path.of("");
        @Option(names = "--force", description = "Puts a present database aside even when it can't be read, and nothing can tell whether a server uses it.")
        private boolean force;

        @Override
        Mono<String> work(StoreBackup store, ServerConfig config) {
            return store.restore(from, config.edge().domain(), force)
                    .map(done -> "restored: " + done.runtimes() + " runtimes"
                            + (done.inbox() ? ", and the inbox" : "")
                            + (done.before() == null
                                    ? ""
                                    : "\nkept the database of before: " + done.before()));
        }
    }
}
