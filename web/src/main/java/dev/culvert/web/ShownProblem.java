package dev.culvert.web;

/**
 * What a page shows of a problem.
 *
 * @param status the status code
 * @param title its summary
 * @param detail a sentence about it
 */
public record ShownProblem(int status, String title, String detail) {}
