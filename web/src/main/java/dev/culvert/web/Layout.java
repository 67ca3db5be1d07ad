package dev.culvert.web;

import gg.jte.Content;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the template of all pages shows around a page.
 *
 * @param product the product's name
 * @param title the page's title
 * @param nav the entries of the navigation
 * @param section the path of the present entry
 * @param path the page's own path, to which a change of the theme returns
 * @param theme {@code auto}, {@code light} or {@code dark}
 * @param session the session; null on the log-in page
 * @param said what the last action did, or empty
 * @param assets the URLs of style sheets and scripts
 * @param body the page
 */
public record Layout(String product, String title, List<NavItem> nav, String section, String path,
        String theme, @Nullable WebSession session, String said, Assets assets,
        Content body) {
    /** The value of {@code aria-current} for an entry of the navigation; null: it is not the present one. */
    public @Nullable String current(NavItem item) {
        return item.path().equals(section) ? "page" : null;
    }
}
