// From what the threads counted to the sample, and to the lines that wrk prints.
#pragma once

#include <string>
#include <vector>

#include "common/generator/sample.h"
#include "common/generator/worker_pool.h"
#include "generators/http/load_plan.h"
#include "generators/http/load_result.h"
#include "generators/http/process_accounts.h"

namespace krepro::http {

void fill_sample(Sample& sample, const LoadPlan& plan,
                 const std::vector<const LoadResult*>& results);
void fill_cpu_metrics(Sample& sample, const WorkerPool::Usage& usage);
void fill_server_metrics(Sample& sample, const ProcessAccounts& before,
                         const ProcessAccounts& after);

/// The lines that wrk prints, as far as they are known here, and ours below them.
[[nodiscard]] std::string result_text(const Sample& sample, const LoadPlan& plan,
                                      const std::string& url);

}  // namespace krepro::http
