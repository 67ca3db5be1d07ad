package dev.culvert.standins.git;

import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A part of a list.
 *
 * @param items the part
 * @param page the page number, starting at 1
 * @param size the number of items per page
 * @param total the number of items in the whole list
 */
record Slice(List<HostedRepository> items, int page, int size, int total) {
    static Slice page(List<HostedRepository> all, int page, int size) {
        int from = Math.min(all.size(), Math.max(0, (page - 1) * size));
        return new Slice(all.subList(from, Math.min(all.size(), from + size)), page, size, all.size());
    }

    List<Map<String, Object>> json(Function<HostedRepository, Map<String, Object>> form) {
        return items.stream().map(form).toList();
    }

    int pages() {
        return (total + size - 1) / size;
    }

    boolean hasNext() {
        return page < pages();
    }

    /** The {@code Link} field in the form of GitHub and Gitea (RFC 8288). */
    String links(String url) {
        var links = new StringBuilder();
        if (hasNext()) {
            links.append(link(url, page + 1, "next")).append(", ").append(link(url, pages(), "last"));
        }
        if (page > 1) {
            links.append(links.isEmpty() ? "" : ", ").append(link(url, 1, "first"));
            links.append(", ").append(link(url, page - 1, "prev"));
        }
        return links.toString();
    }

    private static String link(String url, int page, String rel) {
        return "<" + url + "&page=" + page + ">; rel=\"" + rel + "\"";
    }
}
