package dev.culvert.launcher.run;

import dev.culvert.certs.CertsException;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigException;
import dev.culvert.store.StoreException;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Adds the origin and the key to the error of a well-formed value that proved unusable when the service used
 * it.
 */
final class ValueProblem {
    private ValueProblem() {}

    /** Returns the extended error, or the failure itself if it does not concern a configuration value. */
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
