package dev.culvert.launcher.run;

import dev.culvert.certs.CertsException;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigException;
import dev.culvert.store.StoreException;
import java.util.Optional;
import java.util.function.Predicate;

/** Names the origin and the key of a value that was well formed, and turned out useless when the part began to use it. */
final class ValueProblem {
    private ValueProblem() {}

    /** The failure itself, when it is about no value of the configuration. */
    static Throwable explain(Throwable failure, ConfigBinding binding) {
        String message = String.valueOf(failure.getMessage());
        return switch (failure) {
            case ConfigException wrong -> first(binding, entry -> entry.key().equals(wrong.key()))
                    .map(entry -> told(entry,
                            "\"" + entry.value() + "\" (expected: " + wrong.expected() + ")"))
                    .orElse(failure);
            case CertsException unusable -> first(binding, entry -> message.startsWith(entry.value() + ":"))
                    .map(entry -> told(entry, message))
                    .orElse(failure);
            case StoreException.Failed store -> first(binding, entry -> entry.key().equals("dataDir"))
                    .map(entry -> told(entry, message))
                    .orElse(store);
            default -> failure;
        };
    }

    private static Optional<ConfigBinding.Effective> first(ConfigBinding binding,
            Predicate<ConfigBinding.Effective> guilty) {
        return binding.effective().stream().filter(guilty).findFirst();
    }

    private static Throwable told(ConfigBinding.Effective entry, String what) {
        return new CommandException(ExitCode.CONFIG, entry.origin() + ": " + entry.key() + ": " + what);
    }
}
