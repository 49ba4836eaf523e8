#include <algorithm>
#include <array>
#include <chrono>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <holdfast/engines/store_url.h>

#include "apps/holdfast/cli/text.h"
#include "apps/holdfast/torture/history_html.h"

namespace holdfast::cli::torture {

namespace {

constexpr std::size_t kMostHolds = 4'000;  // on a page
constexpr double kRow = 14;                // pixels
constexpr double kMostWidth = 30'000;
constexpr double kPerSecond = 300;

constexpr std::string_view kStyle = R"(
  body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
  table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em 1em .2em 0; text-align: left }
  .bad { color: #b00020; font-weight: bold } .good { color: #1b6e2e; font-weight: bold }
  .timeline { overflow-x: auto; border: 1px solid #ccc } svg text { font: 11px system-ui, sans-serif }
)";

std::string escape(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

double ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

std::string_view colour_of(std::uint32_t worker) {
  static constexpr std::array<std::string_view, 8> kColours{
      "#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#9c755f", "#edc948", "#86bcb6"};
  return kColours[worker % kColours.size()];
}

std::string_view text_of(End end) {
  switch (end) {
    case End::open: return "not ended";
    case End::released: return "released";
    case End::lost: return "lost";
    case End::killed: break;
  }
  return "killed";
}

// The end of a bar: when the holder noticed that it had ended.
Time end_of(const Hold& hold) { return std::max(hold.sure, hold.ended); }

// Puts bars into rows in which none overlaps another.
class Packing {
 public:
  std::size_t row_for(Time begin, Time end) {
    const auto free = std::ranges::find_if(ends_, [begin](Time last) { return last <= begin; });
    const auto row = static_cast<std::size_t>(free - ends_.begin());
    if (free == ends_.end()) {
      ends_.push_back(end);
    } else {
      *free = end;
    }
    return row;
  }
  [[nodiscard]] std::size_t rows() const noexcept { return std::max<std::size_t>(ends_.size(), 1); }

 private:
  std::vector<Time> ends_;
};

class Timeline {
 public:
  Timeline(std::ostream& out, const Finished& run) : out_(out), history_(run.result.history) {
    choose_part(run.judgement);
    for (const Violation& violation : run.judgement.violations) {
      if (violation.time >= begin_ && violation.time <= end_) {
        violations_.push_back(&violation);
      }
    }
  }

  void write() {
    out_ << fmt::format(
        "<p>{:.3f} s to {:.3f} s of the run. A bar is a hold, from its grant: dark "
        "while its lock was sure of it, pale until its holder noticed the end. The "
        "colour is the worker's. Hover over a bar for its token.</p>\n",
        ms(begin_) / 1e3, ms(end_) / 1e3);
    std::string lanes;
    for (std::uint32_t name = 0; name < history_.names.size(); ++name) {
      lanes += lane_of(name);
    }
    lanes += lane_of_faults();
    out_ << fmt::format(
        "<div class=\"timeline\"><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" "
        "height=\"{:.0f}\">\n{}</svg></div>\n",
        x(end_) + 20, top_, lanes);
  }

 private:
  void choose_part(const Judgement& judgement) {
    std::vector<Time> grants;
    for (const Hold& hold : history_.holds) {
      grants.push_back(hold.granted);
      end_ = std::max(end_, end_of(hold));
    }
    if (grants.size() > kMostHolds) {
      std::ranges::sort(grants);
      const Time middle =
          judgement.violations.empty() ? Time::zero() : judgement.violations.front().time;
      const auto at =
          static_cast<std::size_t>(std::ranges::lower_bound(grants, middle) - grants.begin());
      const std::size_t first =
          std::min(at - std::min(at, kMostHolds / 2), grants.size() - kMostHolds);
      begin_ = grants[first];
      end_ = grants[first + kMostHolds - 1];
    }
    scale_ = std::min(kPerSecond / 1e3, kMostWidth / std::max(ms(end_ - begin_), 1.0));
  }

  [[nodiscard]] double x(Time time) const { return ms(time - begin_) * scale_; }

  std::string bar(double y, Time from, Time to, std::string_view style) const {
    return fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" {}/>",
                       x(from), y, std::max(x(to) - x(from), 0.5), kRow - 2, style);
  }

  std::string heading(std::string_view text) {
    top_ += kRow * 2;
    return fmt::format("<text x=\"4\" y=\"{:.1f}\">{}</text>\n", top_ - 4, escape(text));
  }

  std::string lane_of(std::uint32_t name) {
    std::vector<const Hold*> holds;
    for (const Hold& hold : history_.holds) {
      if (hold.name == name && hold.granted >= begin_ && hold.granted <= end_) {
        holds.push_back(&hold);
      }
    }
    std::ranges::sort(holds, {}, &Hold::granted);
    std::string lane = heading(history_.names[name].text);
    Packing packing;
    for (const Hold* const hold : holds) {
      lane += bars_of(*hold, packing);
    }
    for (const Violation* const violation : violations_) {
      if (violation->name == name) {
        lane += fmt::format(
            "<g><title>{}: {}</title><rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"2\" height=\"{:.1f}\" "
            "fill=\"#b00020\"/></g>\n",
            violation->rule, escape(violation->text), x(violation->time), top_,
            kRow * static_cast<double>(packing.rows()));
      }
    }
    top_ += kRow * static_cast<double>(packing.rows());
    return lane;
  }

  std::string bars_of(const Hold& hold, Packing& packing) const {
    const double y = top_ + kRow * static_cast<double>(packing.row_for(hold.granted, end_of(hold)));
    return fmt::format(
        "<g><title>worker {}, token {}: {:.1f} to {:.1f} ms, {} at {:.1f} ms</title>{}{}</g>\n",
        hold.worker, hold.token, ms(hold.granted), ms(hold.sure), text_of(hold.end),
        ms(end_of(hold)),
        bar(y, hold.granted, hold.sure, fmt::format("fill=\"{}\"", colour_of(hold.worker))),
        bar(y, hold.sure, end_of(hold),
            fmt::format("fill=\"{}\" fill-opacity=\".25\"", colour_of(hold.worker))));
  }

  std::string lane_of_faults() {
    std::string lane = heading("faults");
    Packing packing;
    for (const Fault& fault : history_.faults) {
      if (fault.end < begin_ || fault.begin > end_) {
        continue;
      }
      const double y = top_ + kRow * static_cast<double>(packing.row_for(fault.begin, fault.end));
      lane += fmt::format(
          "<g><title>{} {}: {:.1f} to {:.1f} ms</title>{}</g>\n", fault.what, fault.target,
          ms(fault.begin), ms(fault.end),
          bar(y, std::max(fault.begin, begin_), std::min(fault.end, end_), "fill=\"#888\""));
    }
    top_ += kRow * static_cast<double>(packing.rows() + 1);
    return lane;
  }

  std::ostream& out_;
  const History& history_;
  Time begin_{};
  Time end_{};
  double scale_ = 1;
  double top_ = 0;
  std::vector<const Violation*> violations_;
};

void write_judgement(std::ostream& out, const Finished& run) {
  out << "<table><tr><th>promise</th><th>checked</th><th>violations</th></tr>\n";
  for (const Ruling& ruling : run.judgement.rulings) {
    out << fmt::format("<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td></tr>\n", ruling.rule,
                       ruling.checked, ruling.violations == 0 ? "good" : "bad", ruling.violations);
  }
  out << "</table>\n<p>Updates: " << escape(updates_text(run)) << ".</p>\n<ul>\n";
  for (const Violation& violation : run.judgement.violations) {
    out << fmt::format("<li class=\"bad\">{}, {} at {:.3f} s: {}</li>\n", violation.rule,
                       escape(run.result.history.names[violation.name].text),
                       ms(violation.time) / 1e3, escape(violation.text));
  }
  for (const std::string& defect : run.result.defects) {
    out << fmt::format("<li class=\"bad\">{}</li>\n", escape(defect));
  }
  out << "</ul>\n";
}

}  // namespace

void write_html(std::ostream& out, const Finished& run) {
  const Counts& counts = run.result.counts;
  out << "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>holdfast "
         "torture</title>\n"
      << "<style>" << kStyle << "</style>\n<h1>holdfast torture</h1>\n";
  out << fmt::format(
      "<p class=\"{}\">{}</p>\n<p>{}, seed {}, {}, {} workers, ttl {}: {} granted, {} busy, {} "
      "failed, "
      "{} lost, {} faults.</p>\n",
      run.good() ? "good" : "bad", run.good() ? "No promise was broken." : "A promise was broken.",
      escape(engines::without_password(run.settings.url)), run.settings.seed,
      rough(run.settings.time), run.settings.workers, rough(run.settings.ttl), counts.granted,
      counts.busy, counts.failed, counts.lost, run.result.history.faults.size());
  write_judgement(out, run);
  Timeline(out, run).write();
  out << "</html>\n";
}

}  // namespace holdfast::cli::torture
