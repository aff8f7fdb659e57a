#include "bench/verbs/catalogue_options.hpp"

namespace hbench {

void add_catalogue_options(Arguments& app, CatalogueTexts& texts, const std::string& where) {
  app.add_option("--gpu", texts.gpu, where + "only these GPUs (comma list; h100 means h100-pcie too)");
  app.add_option("--provider", texts.provider, where + "only of these, such as aws (comma list)");
  app.add_option("--max-price", texts.max_price,
                 where + "only where one GPU costs at most so much an hour, such as 5usd; no currency is converted");
  app.add_option("--min-bandwidth", texts.min_bandwidth,
                 where + "only where a GPU's share of its node's NICs is at least so much, such as 100Gbit/s");
}

}  // namespace hbench
