package dev.culvert.server.page;

import java.util.Map;

/**
 * A question before an action that can't be undone.
 *
 * @param title the question
 * @param text what follows from it
 * @param button the name of the action
 * @param danger whether it takes something away
 * @param action the path to which the answer is sent
 * @param back the path of the page without it
 * @param fields the fields that are sent along
 * @param csrf the token of the session
 */
public record Confirmation(String title, String text, String button, boolean danger, String action,
        String back, Map<String, String> fields, String csrf) {}
