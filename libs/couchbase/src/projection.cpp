#include "projection.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "session.hpp"

namespace reprise::couchbase::detail {
namespace {

constexpr std::string_view expiry_path = "$document.exptime";
constexpr std::string_view flags_path = "$document.flags";
// As large and as deep as a server stores documents.
constexpr json::parse_options document_limits{
    .size_max_bytes = std::size_t{21} * 1024 * 1024, .depth_max = 512};

path_spec attribute(std::string_view path) {
    path_spec spec;
    spec.path = path;
    spec.is_xattr = true;
    return spec;
}

path_spec read_of(path_verb verb, std::string path) {
    path_spec spec;
    spec.verb = verb;
    spec.path = std::move(path);
    return spec;
}

// The document that the paths lead to: a value (JSON text), or what is below it.
class projected_value {
public:
    void put(std::span<const wire::path_component> steps, std::string_view text) {
        if (steps.empty()) {
            text_ = text;
            return;
        }
        auto found = std::ranges::find(below_, steps.front(), &child::step);
        if (found == below_.end()) {
            below_.push_back({steps.front(), std::make_unique<projected_value>()});
            found = std::prev(below_.end());
        }
        found->value->put(steps.subspan(1), text);
    }

    // A value contains everything below it.
    void write(json::writer& out) const {
        if (!text_.empty()) {
            out.raw(text_);
        } else if (!below_.empty() && below_.front().step.is_index) {
            out.begin_array();
            std::ranges::for_each(below_, [&](const child& each) { each.value->write(out); });
            out.end_array();
        } else {
            out.begin_object();
            for (const child& each : below_) {
                out.key(each.step.name);
                each.value->write(out);
            }
            out.end_object();
        }
    }

    [[nodiscard]] std::string text() const {
        std::string text;
        json::writer out(text);
        write(out);
        return text;
    }

private:
    struct child {
        wire::path_component step;
        std::unique_ptr<projected_value> value;
    };
    std::string text_;
    std::vector<child> below_;  // in the order of the paths; all members or all elements
};

// Null if the document has no such path.
const json::value* find(const json::value& document, const wire::subdoc_path& path) {
    const json::value* at = &document;
    for (const wire::path_component& step : path) {
        if (!step.is_index) {
            at = at->find(step.name);
        } else if (step.index >= 0) {
            at = at->at(static_cast<std::size_t>(step.index));
        } else {
            const json::array* elements = at->as_array();
            at = elements == nullptr || elements->empty() ? nullptr : &elements->back();
        }
        if (at == nullptr) {
            return nullptr;
        }
    }
    return at;
}

// The user called get.
error name_call(const error& failed) {
    auto info = std::make_shared<error_info>(failed.info());
    info->operation = "get";
    return error(std::move(info));
}

}  // namespace

// Here the paths stand as the user wrote them, after the expiry.
void add_projection(document_call& call, const std::vector<std::string>& paths, bool with_expiry) {
    if (with_expiry) {
        call.terms().specs.push_back(attribute(expiry_path));
    }
    for (const std::string& path : paths) {
        call.terms().specs.push_back(read_of(path_verb::get, path));
    }
}

std::expected<projection, error> projection::make(const document_call& call) {
    projection made;
    for (const path_spec& spec : call.specs()) {
        if (spec.is_xattr) {
            made.has_expiry_ = true;
            continue;
        }
        auto steps = wire::parse_subdoc_path(spec.path);
        if (!steps || steps->empty()) {
            const bool is_deep = !steps && steps.error() == wire::status::subdoc_path_e2big;
            return std::unexpected(error(
                is_deep ? errc::path_too_deep : errc::path_invalid,
                "project: '" + spec.path + "' is not a path"));
        }
        made.paths_.push_back({spec.path, std::move(*steps)});
    }
    made.is_whole_ =
        made.paths_.empty() || made.paths_.size() + made.fact_count() > wire::subdoc_spec_count_max;
    return made;
}

document_call projection::lookup(document_call&& call) const {
    document_call sent = std::move(call);
    sent.kind = operation_kind::lookup_in;
    if (is_whole_) {
        sent.terms().specs.clear();
        if (has_expiry_) {
            sent.terms().specs.push_back(attribute(expiry_path));
        }
        sent.terms().specs.push_back(attribute(flags_path));
        sent.terms().specs.push_back(read_of(path_verb::get_document, {}));
    }
    return sent;
}

std::expected<get_result, error> projection::read(
    std::expected<lookup_in_result, error>&& answer) const {
    if (!answer) {
        return std::unexpected(name_call(answer.error()));
    }
    get_result result;
    result.cas = answer->cas;
    result.trace = std::move(answer->trace);
    if (has_expiry_) {
        const auto expiry = answer->content_as<std::uint32_t>(0);
        if (!expiry) {
            return std::unexpected(expiry.error());
        }
        result.expiry_seconds = *expiry;
    }
    if (is_whole_ && paths_.empty()) {
        // Old servers have no such attribute; the format is then unknown.
        result.flags = answer->content_as<std::uint32_t>(fact_count() - 1).value_or(0);
        const auto found = answer->content(fact_count());
        if (!found) {
            return std::unexpected(found.error());
        }
        result.content = std::move(answer->paths.back().value);
        return result;
    }
    const auto projected = join(*answer);
    if (!projected) {
        return std::unexpected(projected.error());
    }
    result.flags = flags_of(document_format::json);
    result.content = document_bytes_access::copy_of(*projected);
    return result;
}

std::expected<std::string, error> projection::join(const lookup_in_result& answer) const {
    if (is_whole_) {
        const auto document = answer.content(fact_count());
        return document ? cut(document->text()) : std::unexpected(document.error());
    }
    projected_value joined;
    for (std::size_t place = 0; place < paths_.size(); ++place) {
        const path_result& found = answer.paths[fact_count() + place];
        if (!found.code) {
            joined.put(paths_[place].steps, base::as_text(found.value.view()));
        } else if (found.code != errc::path_not_found && found.code != errc::path_mismatch) {
            return std::unexpected(error(found.code, "project: '" + paths_[place].text + "'"));
        }
    }
    return joined.text();
}

std::expected<std::string, error> projection::cut(std::string_view document) const {
    const auto parsed = json::parse(document, document_limits);
    if (!parsed) {
        return std::unexpected(error(errc::document_not_json, "it has no paths"));
    }
    projected_value joined;
    for (const projected_path& path : paths_) {
        if (const json::value* found = find(parsed->root, path.steps)) {
            joined.put(path.steps, json::serialize(*found));
        }
    }
    return joined.text();
}

namespace {

// Turns the answer into the result, and passes it on.
struct projecting_receiver {
    projection what;
    result_receiver<get_result> to;

    static void finish(
        projecting_receiver* at, std::expected<lookup_in_result, error>&& answer, bool is_inline) {
        const std::unique_ptr<projecting_receiver> self(at);
        self->to.complete(self->what.read(std::move(answer)), is_inline);
    }
};

}  // namespace

std::expected<get_result, error> run_get(const call_target& target, document_call&& call) {
    if (call.specs().empty()) {
        return run_call<get_result>(target, std::move(call));
    }
    const auto what = projection::make(call);
    if (!what) {
        return std::unexpected(what.error());
    }
    return what->read(run_call<lookup_in_result>(target, what->lookup(std::move(call))));
}

void start_get(
    const call_target& target, document_call&& call, const result_receiver<get_result>& receiver,
    call_ticket ticket) {
    if (call.specs().empty()) {
        return start_call<get_result>(target, std::move(call), receiver, ticket);
    }
    auto what = projection::make(call);
    if (!what) {
        return receiver.complete(std::unexpected(std::move(what.error())), true);
    }
    document_call lookup = what->lookup(std::move(call));
    auto read = std::make_unique<projecting_receiver>(std::move(*what), receiver);
    start_call<lookup_in_result>(
        target, std::move(lookup), result_receiver<lookup_in_result>::to(read.release()), ticket);
}

}  // namespace reprise::couchbase::detail
