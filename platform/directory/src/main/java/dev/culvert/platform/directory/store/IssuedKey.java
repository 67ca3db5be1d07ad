package dev.culvert.platform.directory.store;

/** A newly issued key, with its text, which is not stored. */
public record IssuedKey(StoredKey key, KeyText text) {}
