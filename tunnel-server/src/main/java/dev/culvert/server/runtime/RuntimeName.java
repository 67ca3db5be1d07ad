package dev.culvert.server.runtime;

import java.util.Comparator;
import java.util.regex.Pattern;

/**
 * A runtime's full name: {@code account/name}. Both parts and the hyphen between them are one DNS label
 * (product.md). Ordered by account, then name.
 *
 * @param account the customer
 * @param name the installation, unique in its account
 */
public record RuntimeName(String account, String name) implements Comparable<RuntimeName> {
    /** RFC 1035 §2.3.4. */
    private static final int MAX_LABEL = 63;
    private static final Pattern PART = Pattern.compile("[a-z0-9]([a-z0-9-]*[a-z0-9])?");
    private static final Comparator<RuntimeName> ORDER = Comparator.comparing(RuntimeName::account)
            .thenComparing(RuntimeName::name);

    /** Throws InvalidNameException naming the invalid part. */
    public RuntimeName {
        requirePart("account", account);
        requirePart("name", name);
        if (account.length() + 1 + name.length() > MAX_LABEL) {
            throw new InvalidNameException("name", "account, hyphen and name together have "
                    + (account.length() + 1 + name.length()) + " characters (expected: at most " + MAX_LABEL
                    + ", because they are one DNS label)");
        }
    }

    /** Whether a DNS label in lower case is that of any account and name. */
    public static boolean isLabel(String label) {
        if (label.length() > MAX_LABEL || !PART.matcher(label).matches()) {
            return false;
        }
        for (int i = label.indexOf('-'); i > 0; i = label.indexOf('-', i + 1)) {
            if (label.charAt(i - 1) != '-' && label.charAt(i + 1) != '-') {
                return true;
            }
        }
        return false;
    }

    /** The first label of its host: {@code <account>-<name>}. Different names may share it. */
    public String label() {
        return account + '-' + name;
    }

    @Override
    public int compareTo(RuntimeName other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return account + '/' + name;
    }

    private static void requirePart(String field, String value) {
        // The length first: the expression is not run on values that are too long.
        if (value.length() > MAX_LABEL || !PART.matcher(value).matches()) {
            String shown = value.length() > MAX_LABEL ? value.substring(0, MAX_LABEL) + "…" : value;
            throw new InvalidNameException(field, "\"" + shown
                    + "\" is not a name (expected: lower-case letters, digits and inner hyphens, as acme or prod-1)");
        }
    }
}
