#include <reprise/wire/subdoc_path.hpp>

#include <charconv>

namespace reprise::wire {
namespace {

// Reads a path from left to right. A function returns false if it finds a syntax error.
class path_parser {
public:
    explicit path_parser(std::string_view text) noexcept : text_(text) {}

    bool run(subdoc_path& out) {
        while (at_ < text_.size()) {
            if (text_[at_] == '[') {
                if (!index(out)) {
                    return false;
                }
            } else if (!name(out)) {
                return false;
            }
            if (!separator()) {
                return false;
            }
        }
        return true;
    }

private:
    // After a component: the end, a bracket, or a dot that something follows. A dot before a
    // bracket is allowed and has no meaning.
    bool separator() noexcept {
        if (at_ == text_.size() || text_[at_] == '[') {
            return true;
        }
        if (text_[at_] != '.') {
            return false;
        }
        ++at_;
        return at_ < text_.size();
    }

    bool index(subdoc_path& out) {
        const std::size_t close = text_.find(']', at_);
        if (close == std::string_view::npos) {
            return false;
        }
        const std::string_view digits = text_.substr(at_ + 1, close - at_ - 1);
        path_component component{.is_index = true, .index = 0, .name = {}};
        const char* end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, component.index);
        if (digits.empty() || error != std::errc{} || stop != end || component.index < -1) {
            return false;
        }
        out.push_back(std::move(component));
        at_ = close + 1;
        return true;
    }

    bool name(subdoc_path& out) {
        path_component component;
        while (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '[') {
            if (text_[at_] == '`') {
                if (!quoted(component.name)) {
                    return false;
                }
                continue;
            }
            if (text_[at_] == ']' || static_cast<unsigned char>(text_[at_]) < 0x20) {
                return false;
            }
            component.name += text_[at_++];
        }
        if (component.name.empty()) {
            return false;
        }
        out.push_back(std::move(component));
        return true;
    }

    // `...` with a doubled backtick for a literal one.
    bool quoted(std::string& out) {
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] != '`') {
                out += text_[at_];
                continue;
            }
            ++at_;
            if (at_ == text_.size() || text_[at_] != '`') {
                return true;
            }
            out += '`';
        }
        return false;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::expected<subdoc_path, status> parse_subdoc_path(std::string_view text) {
    subdoc_path path;
    if (!path_parser(text).run(path)) {
        return std::unexpected(status::subdoc_path_einval);
    }
    if (path.size() > subdoc_depth_max) {
        return std::unexpected(status::subdoc_path_e2big);
    }
    return path;
}

}  // namespace reprise::wire
