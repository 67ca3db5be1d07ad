package dev.culvert.config;

import java.util.ArrayList;
import java.util.List;

/** Lists the settings of configuration records, in declaration order. */
final class SettingList {
    private SettingList() {}

    static List<SettingInfo> of(List<Shape.Group> roots) {
        var settings = new ArrayList<SettingInfo>();
        roots.forEach(root -> collect(root, "", "", false, settings));
        return List.copyOf(settings);
    }

    static SettingInfo info(Shape.Field field, String key) {
        return info(field, key, "", !field.settableByText());
    }

    private static void collect(Shape.Group group, String prefix, String optionalGroup, boolean fileOnly,
            List<SettingInfo> settings) {
        for (Shape.Field field : group.fields()) {
            String key = field.key(prefix);
            boolean inFileOnly = fileOnly || (field.setting() != null && field.setting().fileOnly());
            boolean nested = field.shape() instanceof Shape.Group inner && !inner.fields().isEmpty();
            if (!nested || field.setting() != null) {
                settings.add(info(field, key, optionalGroup, inFileOnly || !field.shape().flat()));
            }
            below(field.shape(), key, nested && field.optional() ? key : optionalGroup, inFileOnly, settings);
        }
    }

    private static void below(Shape shape, String key, String optionalGroup, boolean fileOnly,
            List<SettingInfo> settings) {
        switch (shape) {
            case Shape.Group group -> collect(group, key + ".", optionalGroup, fileOnly, settings);
            case Shape.Many many -> below(many.element(), key + "[]", key + "[]", true, settings);
            case Shape.Keyed keyed -> below(keyed.value(), key + ".*", key + ".*", true, settings);
            case Shape.One one -> {
                // A scalar has no keys below it.
            }
            case Shape.Section section -> {
                // Its keys are known later.
            }
        }
    }

    private static SettingInfo info(Shape.Field field, String key, String optionalGroup, boolean fileOnly) {
        boolean many = field.shape() instanceof Shape.Many || field.shape() instanceof Shape.Keyed;
        boolean required = !field.optional() && field.byDefault().isEmpty() && !many
                && !(field.shape() instanceof Shape.Group);
        boolean isSwitch = field.shape() instanceof Shape.One one && one.type() == boolean.class;
        String doc = field.setting() == null ? "" : field.setting().value();
        String variable = field.setting() == null ? "" : field.setting().variable();
        return new SettingInfo(key, field.accepts(), field.byDefault(), doc, required,
                required ? optionalGroup : "", fileOnly, isSwitch, variable);
    }
}
