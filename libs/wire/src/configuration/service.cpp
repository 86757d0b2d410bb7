#include <reprise/wire/service.hpp>

#include <reprise/base/enum_table.hpp>

namespace reprise::wire {

static_assert(base::has_row_per_enumerator(service_table, &service_facts::which));

std::vector<service> list_services(bool (*is_wanted)(const service_facts&)) {
    std::vector<service> listed;
    for (const service_facts& facts : service_table) {
        if (is_wanted(facts)) {
            listed.push_back(facts.which);
        }
    }
    return listed;
}

std::string name_services(bool (*is_wanted)(const service_facts&)) {
    std::string text;
    for (const service each : list_services(is_wanted)) {
        text += text.empty() ? "" : ", ";
        text += to_string(each);
    }
    return text;
}

}  // namespace reprise::wire
