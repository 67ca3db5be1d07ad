package dev.culvert.server.page;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.Origin;
import java.util.List;
import java.util.Locale;

/**
 * What the page of the configuration shows.
 *
 * @param lines the values
 * @param isUnknown whether this server does not know them
 * @param search the searched text
 * @param onlySet whether defaults are left out
 */
public record ConfigurationList(List<Line> lines, boolean isUnknown, String search, boolean onlySet) {
    /** One value, with its origin in words. */
    public record Line(String key, String value, String origin, boolean isSet) {
        static Line of(ConfigBinding.Effective value) {
            return new Line(value.key(), value.value(), value.origin().toString(),
                    !value.origin().equals(Origin.DEFAULT));
        }

        boolean contains(String text) {
            return (key + ' ' + value + ' ' + origin).toLowerCase(Locale.ROOT).contains(text);
        }
    }
}
