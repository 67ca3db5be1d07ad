package dev.culvert.http.fields;

/** A field's value that counts how many of its characters are looked at. */
final class CountedText implements CharSequence {
    private final String text;
    private final long[] seen;

    CountedText(String text) {
        this(text, new long[1]);
    }

    private CountedText(String text, long[] seen) {
        this.text = text;
        this.seen = seen;
    }

    /** Looks at characters; a copy looks at all of them. */
    long seen() {
        return seen[0];
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public char charAt(int index) {
        seen[0]++;
        return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int from, int to) {
        return new CountedText(text.substring(from, to), seen);
    }

    @Override
    public String toString() {
        seen[0] += text.length();
        return text;
    }
}
