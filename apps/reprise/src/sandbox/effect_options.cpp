#include "sandbox/effect_options.hpp"

#include <algorithm>
#include <utility>

#include "output/output.hpp"
#include "sandbox/call.hpp"

namespace reprise::app {

using form = effect_option::form;

void effect_input::add_options(CLI::App& command, std::span<const effect_option> options) {
    for (const effect_option& each : options) {
        slot& added = slots_.emplace_back(slot{.described = each});
        switch (each.kind) {
            case form::word:
                added.option = command.add_flag(each.name, each.help);
                break;
            case form::count:
                added.option = command.add_option(each.name, added.count, each.help);
                break;
            case form::integer:
                added.option = command.add_option(each.name, added.integer, each.help);
                break;
            case form::text:
            case form::time:
                added.option = command.add_option(each.name, added.text, each.help);
                break;
        }
    }
}

bool effect_input::is_typed(std::string_view name) const {
    return std::ranges::any_of(slots_, [name](const slot& each) {
        return each.described.name == name && each.option->count() > 0;
    });
}

json::value effect_input::make() const {
    json::object members;
    json::value word;
    std::string names;
    std::size_t count = 0;
    for (const slot& each : slots_) {
        const effect_option& described = each.described;
        names += (names.empty() ? "" : ", ") + std::string(described.name);
        if (each.option->count() == 0) {
            continue;
        }
        count += is_typed(described.belongs_to) ? 0U : 1U;
        switch (described.kind) {
            case form::word:
                word = described.member;
                break;
            case form::text:
                members.set(described.member, each.text);
                break;
            case form::count:
                members.set(described.member, each.count);
                break;
            case form::integer:
                members.set(described.member, each.integer);
                break;
            case form::time:
                members.set(described.member, parse_milliseconds(described.name, each.text));
                break;
        }
    }
    if (count != 1) {
        throw usage_error(names + ": use exactly one");
    }
    return members.empty() ? word : json::value(std::move(members));
}

}  // namespace reprise::app
